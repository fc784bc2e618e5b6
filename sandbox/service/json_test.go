package service

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestSyntaxErrors holds messages and offsets to those of Python 3.11's json
// (json.loads on each text).
func TestSyntaxErrors(t *testing.T) {
	for _, tt := range []struct {
		text, msg string
		at        int
	}{
		{``, "Expecting value", 0},
		{`{"a":`, "Expecting value", 5},
		{`{"a": ]`, "Expecting value", 6},
		{`[1, 2`, "Expecting ',' delimiter", 5},
		{`[1 2]`, "Expecting ',' delimiter", 3},
		{`[1,]`, "Expecting value", 3},
		{`{"a" 1}`, "Expecting ':' delimiter", 5},
		{`{a: 1}`, "Expecting property name enclosed in double quotes", 1},
		{`{"a": 1,}`, "Expecting property name enclosed in double quotes", 8},
		{`{} x`, "Extra data", 3},
		{`"abc`, "Unterminated string starting at", 0},
		{`["a\`, "Unterminated string starting at", 1},
		{"\"a\nb\"", "Invalid control character at", 2},
		{`01`, "Extra data", 1},
		{`1.`, "Extra data", 1},
		{`-`, "Expecting value", 0},
		{`tru`, "Expecting value", 0},
	} {
		_, err := parseJSON(tt.text)
		if err == nil || err.msg != tt.msg || err.at != tt.at {
			t.Errorf("%q: got %+v, want %q at %d", tt.text, err, tt.msg, tt.at)
		}
	}
}

func TestPythonsNumbers(t *testing.T) {
	r, err := parseJSON(` {"a": [NaN, -Infinity, 1e400, "NaN\u00e9", -0.5], "a": Infinity} `)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(r.strict()), `{"a": ["NaN", "-Infinity", 1e400, "NaN\u00e9", -0.5], "a": "Infinity"}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestDeepNestingIsRefused(t *testing.T) {
	deep := strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000)
	if _, err := parseJSON(deep); err == nil {
		t.Error("parsed")
	}
}

// FuzzJSON holds the scanner to the standard library's, save for what Python
// reads besides.
func FuzzJSON(f *testing.F) {
	for _, s := range []string{`{"a":[1,-0.5e+3,"\u00e9\ud800",true,null]}`, `[NaN,Infinity,-Infinity]`, `"\`, `{"a":1,"a":2}`, "[1 ,\t2\r\n]"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := parseJSON(text)
		standard := json.Valid([]byte(text))
		python := strings.Contains(text, "NaN") || strings.Contains(text, "Infinity")
		if utf8.ValidString(text) && !python && (err == nil) != standard && strings.Count(text, "[")+strings.Count(text, "{") < maxDepth {
			t.Fatalf("%q: error %v, standard %v", text, err, standard)
		}
		if err == nil {
			walk(t, r)
			if !json.Valid(r.strict()) {
				t.Fatalf("%q: not standard JSON: %s", text, r.strict())
			}
		} else if err.at < 0 || err.at > len(text) {
			t.Fatalf("%q: offset %d", text, err.at)
		}
	})
}

// walk goes through all of a value.
func walk(t *testing.T, r raw) {
	switch r.kind() {
	case isList:
		for item := range r.items() {
			walk(t, item)
		}
	case isObject:
		for _, v := range r.members() {
			walk(t, v)
		}
	case isString:
		var s string
		if err := json.Unmarshal([]byte(r), &s); err != nil || utf8.ValidString(string(r)) && s != r.text() {
			t.Fatalf("%s: %q, want %q (%v)", r, r.text(), s, err)
		}
	}
}

// FuzzRequests looks for bodies that break the parsers behind the JSON, and holds
// what they let through to the limits.
func FuzzRequests(f *testing.F) {
	f.Add(`{"code":"x","language":"python","files":{"a/b":"eA==","c":null},"fetch_files":["../x","y"],"run_timeout":"1.5","stdin":null}`)
	f.Add(`{"completion":"x","id":1,"config":{"language":"python","mem_limit":7,"provided_data":{"test_cases":{"type":"function_call","fn_name":"f","json_input":true,"input":["1\n[2]",[NaN]],"output":["3",[4]]}},"extra":{"checker":{"mode":"abs","eps":1}}}}`)
	f.Add(`{"completion":"x","config":{"language":"cpp","provided_data":{"test":[{"input":{"stdin":"1"},"output":{"stdout":"2"}}]},"extra":{"total_timeout":-1,"special_judge_program":"y"}}}`)
	f.Add(`{"completion":"x","config":{"language":"cpp","provided_data":{"test_cases":[{"input":"a","output":"b"},{"type":"assert"}]}}}`)
	f.Add(`{"completion":"x","config":{"provided_data":{"test_cases":{"type":"assert","test":"t","entry_point":3,"stop_tokens":[1]}}}}`)
	languages := languageNames()
	f.Fuzz(func(t *testing.T, text string) {
		body, fault := parseJSON(text)
		if fault != nil || !utf8.ValidString(text) {
			return
		}
		run, faults := parseRun(body, languages)
		if len(faults) == 0 {
			if !slices.Contains(languages, run.language) || run.runTime < 0 || run.runTime > maxTimeout || run.memory < 0 {
				t.Fatalf("let through: %+v", run)
			}
			for name := range run.files {
				if !localPath(name) {
					t.Fatalf("a file at %q", name)
				}
			}
		}
		encode(faults)
		submit, faults := parseSubmit(body, languages)
		encode(faults)
		_ = submit.config.extra.rules()
		cases := parseCases(&faults, submit.config.data)
		if len(cases) == 1 && cases[0].kind == assertions {
			parseAssert(&faults, submit.config.data, submit.config.language)
		}
		encode(faults)
		if len(faults) > 0 {
			return
		}
		for i := range cases {
			c := &cases[i]
			if err := c.test.Validate(c.fn); c.fn != "" && c.broken == "" && err != nil {
				t.Fatalf("a call that cannot be judged: %v", err)
			}
			if !json.Valid(c.info(true)) {
				t.Fatalf("an echo that is no JSON: %s", c.info(true))
			}
		}
	})
}
