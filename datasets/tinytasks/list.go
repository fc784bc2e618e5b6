package tinytasks

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// kind is the type of a list's elements.
type kind int

const (
	anything kind = iota // of a clause: it takes lists of every kind and keeps it
	numbers
	words
)

// list is the value that a program works on: numbers, or words.
type list struct {
	kind  kind
	nums  []int
	words []string
}

func (l list) len() int {
	if l.kind == numbers {
		return len(l.nums)
	}
	return len(l.words)
}

// line spells the list as a stdin task's input does, and as print(*a) does.
func (l list) line() string {
	if l.kind == words {
		return strings.Join(l.words, " ")
	}
	parts := make([]string, len(l.nums))
	for i, n := range l.nums {
		parts[i] = strconv.Itoa(n)
	}
	return strings.Join(parts, " ")
}

// literal spells the list as Python does. The words hold nothing that must be
// escaped.
func (l list) literal() string {
	if l.kind == words {
		parts := make([]string, len(l.words))
		for i, w := range l.words {
			parts[i] = "'" + w + "'"
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	return "[" + strings.ReplaceAll(l.line(), " ", ", ") + "]"
}

// json spells the list as the argument of a call.
func (l list) json() string {
	if l.kind == words {
		return strings.ReplaceAll(l.literal(), "'", `"`)
	}
	return l.literal()
}

// answer is what a program ends with: a number, a text, or a whole list.
type answer struct {
	list *list
	text *string
	num  int
}

func number(n int) answer  { return answer{num: n} }
func text(s string) answer { return answer{text: &s} }
func whole(l list) answer  { return answer{list: &l} }

// annotation is the Python type of the answer; of says what a list holds.
func (a answer) annotation(of kind) string {
	switch {
	case a.list != nil && of == words:
		return "List[str]"
	case a.list != nil:
		return "List[int]"
	case a.text != nil:
		return "str"
	}
	return "int"
}

// printed is what Python's print shows: of a list its elements for a stdin task
// (print(*a)), its literal for a functional one.
func (a answer) printed(functional bool) string {
	switch {
	case a.list != nil && functional:
		return a.list.literal()
	case a.list != nil:
		return a.list.line()
	case a.text != nil:
		return *a.text
	}
	return strconv.Itoa(a.num)
}

// json is the answer as the value of a call.
func (a answer) json() string {
	switch {
	case a.list != nil:
		return a.list.json()
	case a.text != nil:
		raw, err := json.Marshal(*a.text)
		if err != nil { // no text of ours can fail
			panic(fmt.Sprintf("marshal %q: %v", *a.text, err))
		}
		return string(raw)
	}
	return strconv.Itoa(a.num)
}
