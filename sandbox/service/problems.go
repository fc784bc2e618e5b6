package service

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// shownInput is how much of a faulty value an answer repeats.
const shownInput = 1000

// helpURL is where pydantic's documentation explains a type of problem; clients
// that print error bodies show it.
const helpURL = "https://errors.pydantic.dev/2.6/v/"

// problem is one fault of a request, in the form of FastAPI and pydantic.
type problem struct {
	Type  string          `json:"type"`
	Loc   []any           `json:"loc"`
	Msg   string          `json:"msg"`
	Input json.RawMessage `json:"input"`
	Ctx   map[string]any  `json:"ctx,omitempty"`
	URL   string          `json:"url,omitempty"`
}

// problems are all faults of a request; without any it is a valid one.
type problems []problem

// maxProblems bounds the faults that an answer lists: one byte of a request can
// make a fault, and each takes hundreds.
const maxProblems = 100

// add notes a fault of pydantic's type kind in the value at loc. Of many, the
// first are listed.
func (p *problems) add(kind string, loc []any, in raw, format string, args ...any) *problem {
	if len(*p) >= maxProblems {
		return &problem{}
	}
	*p = append(*p, problem{
		Type:  kind,
		Loc:   append([]any(nil), loc...),
		Msg:   fmt.Sprintf(format, args...),
		Input: shorten(in),
		URL:   helpURL + kind,
	})
	return &(*p)[len(*p)-1]
}

// value notes a fault of ours, beyond types.
func (p *problems) value(loc []any, in raw, format string, args ...any) {
	p.add("value_error", loc, in, "Value error, "+format, args...)
}

// shorten repeats a value, or the beginning of a long one as a string.
func shorten(in raw) json.RawMessage {
	if len(in) <= shownInput {
		return in.strict()
	}
	head := strings.ToValidUTF8(string(in[:shownInput]), "") + "..."
	text, err := json.Marshal(head)
	if err != nil {
		return json.RawMessage(`"..."`)
	}
	return text
}

// badJSON is the fault of a body that is no JSON. Positions count characters.
func badJSON(body string, err *syntaxError) problems {
	return problems{{
		Type:  "json_invalid",
		Loc:   []any{"body", utf8.RuneCountInString(body[:min(err.at, len(body))])},
		Msg:   "JSON decode error",
		Input: json.RawMessage("{}"),
		Ctx:   map[string]any{"error": err.msg},
	}}
}

// oneOf writes choices as pydantic does: 'a', 'b' or 'c'.
func oneOf(choices []string) string {
	quoted := make([]string, len(choices))
	for i, c := range choices {
		quoted[i] = "'" + c + "'"
	}
	last := len(quoted) - 1
	if last < 1 {
		return strings.Join(quoted, "")
	}
	return strings.Join(quoted[:last], ", ") + " or " + quoted[last]
}
