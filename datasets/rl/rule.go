package rl

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/coderl/cr/datasets/pyvalue"
	"github.com/coderl/cr/datasets/source"
)

// columns of the source that are read, in the order of a row's fields.
var columns = []string{"prompt", "gold_standard_solution", "verification_info", "source"}

const (
	colPrompt = iota
	colSolution
	colTests
	colSource
)

// record is a kept row. Null text is nil.
type record struct {
	prompt      *string
	solution    string
	groundTruth []byte
	source      *string
}

// rules decides rows. It belongs to one goroutine.
type rules struct {
	minTests int
	language string
	opening  string // of the solution's fence
	literals pyvalue.Literals
	plain    plainRule
	buf      []byte
}

func newRules(o Options) *rules {
	return &rules{
		minTests: o.MinTests, language: o.Language, opening: "```" + o.Language,
		plain: plainRule{minTests: o.MinTests, language: o.Language},
	}
}

// apply gives the record of a row, or why there is none. The record's ground
// truth is valid until the next call.
func (r *rules) apply(row []source.Field) (record, *drop) {
	for i, field := range row {
		if field.Kind == source.Text && !utf8.ValidString(field.Text) {
			return record{}, &drop{NotUnicode, columns[i] + " is not UTF-8"}
		}
	}
	if d := r.checkSolution(row[colSolution]); d != nil {
		return record{}, d
	}
	if row[colTests].Kind != source.Text {
		return record{}, &drop{NoTests, "verification_info is not text"}
	}
	truth, d := r.truth(row[colTests].Text)
	if d != nil {
		return record{}, d
	}
	prompt, d := optional(row[colPrompt], "prompt")
	if d != nil {
		return record{}, d
	}
	origin, d := optional(row[colSource], "source")
	if d != nil {
		return record{}, d
	}
	return record{prompt: prompt, solution: row[colSolution].Text, groundTruth: truth, source: origin}, nil
}

func optional(field source.Field, name string) (*string, *drop) {
	switch field.Kind {
	case source.Null:
		return nil, nil
	case source.Text:
		return &field.Text, nil
	default:
		return nil, &drop{PythonRaises, name + " is not text"}
	}
}

func (r *rules) checkSolution(field source.Field) *drop {
	switch {
	case field.Kind == source.Other:
		return &drop{PythonRaises, "gold_standard_solution is not text"}
	case field.Text == "":
		return &drop{NoSolution, "gold_standard_solution is null or empty"}
	case !strings.HasPrefix(field.Text, r.opening):
		return &drop{NotFenced, fmt.Sprintf("the solution begins %q, not %q", head(field.Text), r.opening)}
	case !strings.HasSuffix(field.Text, "```"):
		return &drop{NotFenced, fmt.Sprintf("the solution ends %q, not with its fence", tail(field.Text))}
	}
	return nil
}

// truth makes the ground truth of verification_info.
func (r *rules) truth(text string) ([]byte, *drop) {
	if truth, d, ok := r.plain.apply(r.literals.Plain(text)); ok {
		return truth, d
	}
	return r.judgeTests(text)
}

// judgeTests is truth for text of any form.
func (r *rules) judgeTests(text string) ([]byte, *drop) {
	cases, d := r.testCases(text)
	if d != nil {
		return nil, d
	}
	return r.groundTruth(cases)
}

// testCases parses verification_info and checks its form.
func (r *rules) testCases(text string) ([]pyvalue.Value, *drop) {
	info, d := r.parse(text)
	if d != nil {
		return nil, d
	}
	if info.Kind != pyvalue.Dict {
		return nil, &drop{OtherLanguage, "verification_info is a " + info.Kind.String() + ", not a dict"}
	}
	if language, _ := info.Get("language"); !language.IsStr(r.language) {
		return nil, &drop{OtherLanguage, fmt.Sprintf("the language is %s, not %q", describe(language), r.language)}
	}
	tests, ok := info.Get("test_cases")
	switch {
	case ok && tests.Kind != pyvalue.List:
		return nil, &drop{FewTests, "test_cases is a " + tests.Kind.String() + ", not a list"}
	case len(tests.Items) < r.minTests:
		return nil, fewTests(len(tests.Items))
	}
	for _, key := range []string{"input", "output"} {
		has, d := contains(tests.Items[0], key)
		if d != nil {
			return nil, d
		}
		if !has {
			return nil, &drop{NoCase, fmt.Sprintf("the first test case has no %q", key)}
		}
	}
	return tests.Items, nil
}

func fewTests(n int) *drop { return &drop{FewTests, fmt.Sprintf("%d test cases", n)} }

// parse reads Python's syntax, and JSON where that is refused.
func (r *rules) parse(text string) (pyvalue.Value, *drop) {
	info, literalErr := r.literals.Parse(text)
	if literalErr == nil {
		return info, nil
	}
	if errors.As(literalErr, new(*pyvalue.Raised)) {
		return info, &drop{PythonRaises, literalErr.Error()}
	}
	info, err := pyvalue.ParseJSON(text)
	switch {
	case errors.As(err, new(*pyvalue.Raised)):
		return info, &drop{PythonRaises, err.Error()}
	case err != nil:
		return info, &drop{Unparsable, fmt.Sprintf("as a literal: %v; as JSON: %v", literalErr, err)}
	}
	return info, nil
}

// contains is Python's `key in v`: of keys, of elements, or of a part of a string.
func contains(v pyvalue.Value, key string) (bool, *drop) {
	switch v.Kind {
	case pyvalue.Dict:
		_, ok := v.Get(key)
		return ok, nil
	case pyvalue.Str:
		return strings.Contains(v.Text, key), nil
	case pyvalue.List, pyvalue.Tuple, pyvalue.Set:
		for _, item := range v.Items {
			if item.IsStr(key) {
				return true, nil
			}
		}
		return false, nil
	default:
		return false, &drop{BadCase, "TypeError: the first test case is a " + v.Kind.String()}
	}
}

// groundTruth regroups the cases by column and writes them as json.dumps does.
func (r *rules) groundTruth(cases []pyvalue.Value) ([]byte, *drop) {
	var err error
	b := append(r.buf[:0], '{')
	for _, key := range []string{"input", "output"} {
		b = append(b, `"`+key+`": [`...)
		for i, c := range cases {
			v, ok := c.Get(key)
			if !ok {
				return nil, noValue(i, c, key)
			}
			if i > 0 {
				b = append(b, ", "...)
			}
			if b, err = pyvalue.AppendJSON(b, v); err != nil {
				return nil, &drop{PythonRaises, fmt.Sprintf("test case %d, %s: %v", i+1, key, err)}
			}
		}
		b = append(b, "], "...)
	}
	name, called := cases[0].Get("fn_name")
	b = append(b, `"fn_name": `...)
	if b, err = pyvalue.AppendJSON(b, name); err != nil {
		return nil, &drop{PythonRaises, "fn_name: " + err.Error()}
	}
	form := "stdin_stdout"
	if called {
		form = "function_call"
	}
	b = append(b, `, "type": "`+form+`"}`...)
	r.buf = b
	return b, nil
}

func noValue(i int, c pyvalue.Value, key string) *drop {
	if c.Kind != pyvalue.Dict {
		return &drop{BadCase, fmt.Sprintf("TypeError: test case %d is a %s", i+1, c.Kind)}
	}
	return &drop{BadCase, fmt.Sprintf("KeyError: test case %d has no %q", i+1, key)}
}

// describe shows a value in a drop's line.
func describe(v pyvalue.Value) string {
	text, err := pyvalue.AppendJSON(nil, v)
	if err != nil {
		return "a " + v.Kind.String()
	}
	return head(string(text))
}

// shown is how much of a text a drop's line quotes.
const shown = 40

func head(text string) string {
	if len(text) > shown {
		return strings.ToValidUTF8(text[:shown], "") + "…"
	}
	return text
}

func tail(text string) string {
	if len(text) > shown {
		return "…" + strings.ToValidUTF8(text[len(text)-shown:], "")
	}
	return text
}
