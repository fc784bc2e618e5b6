package rl

import (
	"bytes"
	"reflect"
	"testing"
)

// FuzzPlainRule checks that the short way gives what the rules give.
func FuzzPlainRule(f *testing.F) {
	for _, text := range []string{
		`{'language': 'python', 'test_cases': [{'type': 'stdin_stdout', 'input': '1 2\n3\n', 'output': "it's"}]}`,
		`{"language": "python", "test_cases": [{"input": "\u4e2d\/\"", "output": "\ud83d\ude00\t", "fn_name": null}]}`,
		`{'test_cases': [{'fn_name': 'f', 'input': 'é\x01\x7f', 'output': None}, {'output': '', 'input': '"\'\\'}], 'language': 'python'}`,
		"{\n \"language\": \"python\",\n \"test_cases\": [\n  {\n   \"input\": \"😀\x7f\",\n   \"output\": \"a\\\nb\"\n  }\n ]\n}",
		`{'language': 'python', 'test_cases': [{'input': '''a''', 'output': 'a' 'b', 'input': '\N{DIGIT ONE}\101'},]}` + "\n",
	} {
		f.Add(text)
	}
	o := Defaults()
	o.MinTests = 2
	short, long := newRules(o), newRules(o)
	f.Fuzz(func(t *testing.T, text string) {
		got, gotDrop, ok := short.plain.apply(short.literals.Plain(text))
		if !ok {
			return
		}
		if want, d := long.judgeTests(text); !reflect.DeepEqual(d, gotDrop) || !bytes.Equal(got, want) {
			t.Fatalf("%q gives\n%s (%+v), the rules\n%s (%+v)", text, got, gotDrop, want, d)
		}
	})
}

// TestPlainRuleTakesCommonText keeps the short way from being missed: texts as
// repr and json.dumps make them.
func TestPlainRuleTakesCommonText(t *testing.T) {
	const want = `{"input": ["1\n", "\u00e9\""], "output": ["'\\", null], "fn_name": null, "type": "stdin_stdout"}`
	o := Defaults()
	o.MinTests = 2
	r := newRules(o)
	for _, text := range []string{
		`{'language': 'python', 'test_cases': [{'type': 't', 'input': '1\n', 'output': "'\\"}, {'type': 't', 'input': 'é"', 'output': None}]}`,
		`{"test_cases": [{"input": "1\n", "output": "'\\"}, {"output": None, "input": "\u00e9\""}], "language": "python"}`,
		"{\n \"language\": \"python\",\n \"test_cases\": [\n  {\"input\": \"1\\n\", \"output\": \"'\\\\\"},\n  {\"input\": \"\u00e9\\\"\", \"output\": None}\n ]\n}",
	} {
		if got, d, ok := r.plain.apply(r.literals.Plain(text)); !ok || d != nil || string(got) != want {
			t.Errorf("%s: %s, %v, %v", text, got, d, ok)
		}
	}
}
