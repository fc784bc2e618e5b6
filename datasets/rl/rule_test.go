package rl

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/coderl/cr/datasets/source"
)

const goodSolution = "```python\nprint(1)\n```"

func rowOf(solution, tests source.Field) []source.Field {
	return []source.Field{textField("statement"), solution, tests, textField("apps")}
}

func textField(s string) source.Field { return source.Field{Kind: source.Text, Text: s} }

// five is a verification_info whose first case is given; the others are plain.
func five(first string) string {
	return `{"language": "python", "test_cases": [` + first + strings.Repeat(`, {"input": "1", "output": "2"}`, 4) + `]}`
}

func TestReasons(t *testing.T) {
	good := `{"input": "1", "output": "2"}`
	for _, c := range []struct {
		name     string
		solution source.Field
		tests    source.Field
		want     Reason
	}{
		{"kept", textField(goodSolution), textField(five(good)), ""},
		{"another tag with the same start", textField("```python3\nx\n```"), textField(five(good)), ""},
		{"no solution", source.Field{}, textField(five(good)), NoSolution},
		{"empty solution", textField(""), textField(five(good)), NoSolution},
		{"space after the fence", textField(goodSolution + "\n"), textField(five(good)), NotFenced},
		{"no fence", textField("print(1)"), textField(five(good)), NotFenced},
		{"solution of another type", source.Field{Kind: source.Other}, textField(five(good)), PythonRaises},
		{"no tests", textField(goodSolution), source.Field{}, NoTests},
		{"tests of another type", textField(goodSolution), source.Field{Kind: source.Other}, NoTests},
		{"not UTF-8", textField(goodSolution), textField("\xff"), NotUnicode},
		{"empty", textField(goodSolution), textField(""), Unparsable},
		{"a list", textField(goodSolution), textField("[1]"), OtherLanguage},
		{"no language", textField(goodSolution), textField(`{"test_cases": []}`), OtherLanguage},
		{"bytes for a language", textField(goodSolution), textField(strings.Replace(five(good), `"python"`, `b"python"`, 1)), OtherLanguage},
		{"no test cases", textField(goodSolution), textField(`{"language": "python"}`), FewTests},
		{"a tuple of cases", textField(goodSolution), textField(`{"language": "python", "test_cases": (1, 2, 3, 4, 5)}`), FewTests},
		{"no output in the first", textField(goodSolution), textField(five(`{"input": "1"}`)), NoCase},
		{"a text that has neither", textField(goodSolution), textField(five(`"in"`)), NoCase},
		{"a text that has both", textField(goodSolution), textField(five(`"input output"`)), BadCase},
		{"a list that has both", textField(goodSolution), textField(five(`["input", "output"]`)), BadCase},
		{"a number", textField(goodSolution), textField(five("1")), BadCase},
		{"no output later", textField(goodSolution), textField(strings.Replace(five(good), `2"}]`, `2"}, {"input": 1}]`, 1)), BadCase},
		{"bytes", textField(goodSolution), textField(five(`{"input": b"1", "output": "2"}`)), PythonRaises},
		{"bytes elsewhere", textField(goodSolution), textField(five(`{"input": "1", "output": "2", "x": b"1"}`)), ""},
		{"a list for a key", textField(goodSolution), textField(`{[]: 1}`), PythonRaises},
		{"too deep", textField(goodSolution), textField(strings.Repeat("[", 5000)), PythonRaises},
	} {
		_, d := newRules(Defaults()).apply(rowOf(c.solution, c.tests))
		switch {
		case c.want == "" && d != nil:
			t.Errorf("%s: %v", c.name, d)
		case c.want != "" && (d == nil || d.reason != c.want || d.detail == ""):
			t.Errorf("%s: %v, want %s", c.name, d, c.want)
		}
	}
}

// Kinds and sizes of numbers survive: 1 is not "1" is not 1.0.
func TestGroundTruthKeepsLiterals(t *testing.T) {
	for _, c := range []struct{ first, want string }{
		{
			`{"input": [[1, "1"], [2.0, "x"], [None, True]], "output": [["1"], [1], [1.0]]}`,
			`[[1, "1"], [2.0, "x"], [null, true]]`,
		},
		{
			`{"input": {"n": 9007199254740993, "m": 12345678901234567890123, "x": 1.0, "y": 1e3}, "output": 1}`,
			`{"n": 9007199254740993, "m": 12345678901234567890123, "x": 1.0, "y": 1000.0}`,
		},
		{`{'input': ('a', 'é😀\/'), 'output': 1}`, `["a", "\u00e9\ud83d\ude00\\/"]`},
	} {
		r, d := newRules(Defaults()).apply(rowOf(textField(goodSolution), textField(five(c.first))))
		if d != nil {
			t.Errorf("%s: %v", c.first, d)
			continue
		}
		if want := `{"input": [` + c.want + `, "1", `; !strings.HasPrefix(string(r.groundTruth), want) {
			t.Errorf("%s: %s, want %s…", c.first, r.groundTruth, want)
		}
	}
}

func TestFunctionCalls(t *testing.T) {
	r, d := newRules(Defaults()).apply(rowOf(textField(goodSolution), textField(five(`{"input": 1, "output": 2, "fn_name": "f"}`))))
	if want := `, "fn_name": "f", "type": "function_call"}`; d != nil || !strings.HasSuffix(string(r.groundTruth), want) {
		t.Errorf("%s (%v), want …%s", r.groundTruth, d, want)
	}
}

// FuzzRules feeds any verification_info: what is kept is JSON of ASCII with as
// many inputs as outputs.
func FuzzRules(f *testing.F) {
	f.Add(five(`{"input": "1", "output": "2"}`))
	f.Add(five(`{'input': ('a', 1.5, None), 'output': {'k': [True]}, "fn_name": "f"}`))
	f.Add(five(`["input", "output"]`))
	rules := newRules(Defaults())
	f.Fuzz(func(t *testing.T, text string) {
		r, d := rules.apply(rowOf(textField(goodSolution), textField(text)))
		if d != nil {
			if d.reason == "" || d.detail == "" {
				t.Fatalf("dropped without a reason: %+v", d)
			}
			return
		}
		var truth struct {
			Input, Output []json.RawMessage
			Type          string
		}
		plain := strings.NewReplacer("NaN", "0", "Infinity", "0").Replace(string(r.groundTruth))
		if err := json.Unmarshal([]byte(plain), &truth); err != nil {
			t.Fatalf("%q gives %q: %v", text, r.groundTruth, err)
		}
		if len(truth.Input) < 5 || len(truth.Input) != len(truth.Output) || truth.Type == "" {
			t.Fatalf("%q gives %q", text, r.groundTruth)
		}
	})
}
