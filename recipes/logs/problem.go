package logs

import "fmt"

// Problem is something in a log that could not be read. Count is how often it
// occurred; the place is the first.
type Problem struct {
	File  string `json:"file"`
	Line  int64  `json:"line"`
	What  string `json:"what"`
	Count int    `json:"count"`
	kind  problemKind
}

type problemKind int

const (
	badValue problemKind = iota
	tornLine
	longLine
	badObject
	openDictionary
	doubledKey
	endCut
)

func (p Problem) String() string {
	text := fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.What)
	if p.Count > 1 {
		text += fmt.Sprintf(" (and %d more like it)", p.Count-1)
	}
	return text
}

// Error makes a problem an error, for strict reading.
func (p Problem) Error() string { return p.String() }

// problems keeps the first of each kind in a file, and counts the rest.
type problems struct {
	list []Problem
}

func (p *problems) add(kind problemKind, file string, line int64, format string, args ...any) {
	for i := range p.list {
		if p.list[i].kind == kind {
			p.list[i].Count++
			return
		}
	}
	p.list = append(p.list, Problem{File: file, Line: line, What: fmt.Sprintf(format, args...), Count: 1, kind: kind})
}

// quoted is the text for a message, shortened.
func quoted(text string) string {
	if len(text) > 60 {
		text = text[:60] + "…"
	}
	return fmt.Sprintf("%q", text)
}
