package eval

import (
	"strings"
	"testing"
)

const fence3 = "```"

func block3(label, code string) string { return fence3 + label + "\n" + code + "\n" + fence3 + "\n" }

func TestExtractLast(t *testing.T) {
	drafts := "first:\n" + block3("python", "print(1)") + "better:\n" + block3("py", "print(2)") + "or maybe\n"
	unclosed := fence3 + "python\nprint(3)"
	thinking := "def f(x):\n    return x+1  # no\n" + block3("python", "def f(x): return 0")
	cases := map[string]struct {
		text     string
		opened   bool
		code     string
		step     string
		unclosed bool
	}{
		"last closed before an unclosed": {text: drafts + unclosed, code: "print(2)", step: "python"},
		"another language does not count": {
			text: drafts + block3("text", "$ run me") + unclosed, code: "print(2)", step: "python",
		},
		"a block without a label does":     {text: drafts + block3("", "$ run me") + unclosed, code: "$ run me", step: "python"},
		"no fence":                         {text: "print(1) better: print(2) or maybe print(3)"},
		"trailing output block":            {text: block3("python", "print(1)") + "prints\n" + block3("text", "1"), code: "print(1)", step: "python"},
		"unclosed alone":                   {text: "so\n" + unclosed, code: "print(3)", step: "unclosed"},
		"only another label":               {text: block3("c++", "int x;"), code: "int x;", step: "other"},
		"more marks":                       {text: "````python\ns = '''\n```\n'''\n````\n", code: "s = '''\n```\n'''", step: "python"},
		"tildes":                           {text: "~~~ Python3\nprint(1)\n~~~", code: "print(1)", step: "python"},
		"attributes":                       {text: fence3 + "{.python .numberLines}\nprint(1)\n" + fence3, code: "print(1)", step: "python"},
		"CRLF":                             {text: "x\r\n```python\r\nprint(1)\r\nprint(2)\r\n```\r\n", code: "print(1)\nprint(2)", step: "python"},
		"in a list":                        {text: "1. so\n   ```python\n   if x:\n       y()\n   ```", code: "if x:\n    y()", step: "python"},
		"empty block is none":              {text: block3("python", "print(1)") + block3("python", " "), code: "print(1)", step: "python"},
		"inline code is no fence":          {text: "use ```print(9)``` here\n" + block3("python", "print(1)"), code: "print(1)", step: "python"},
		"answer behind drafts in thinking": {text: thinking + "</think>\n\ndef f(x):\n    return x*2", opened: true, code: "def f(x):\n    return x*2", step: "bare"},
		"thinking without end":             {text: thinking, opened: true, unclosed: true},
		"the same without thinking":        {text: thinking, code: "def f(x): return 0", step: "python"},
		"cut thought":                      {text: "<think> " + fence3 + "python x", unclosed: true},
		"prose that begins like code":      {text: "from the statement we see it\nimport antly"},
		"bare program":                     {text: "\nimport sys\nprint(sys.stdin.read())\n", code: "import sys\nprint(sys.stdin.read())", step: "bare"},
		"nothing":                          {},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := Extract(ExtractLast, Answer{Final: c.text, Opened: c.opened})
			if want := (Extraction{c.code, c.step, c.unclosed}); got != want {
				t.Errorf("got %+v, want %+v", got, want)
			}
		})
	}
}

func TestExtractLCB(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"one block":            {block3("python", "print(1)"), "print(1)"},
		"trailing block wins":  {block3("python", "print(1)") + "prints\n" + block3("text", "1"), "1"},
		"between two blocks":   {block3("python", "print(1)") + "or maybe\n" + fence3 + "python\nprint(3)", "or maybe"},
		"one mark":             {fence3 + "python\nprint(3)", ""},
		"marks within a line":  {"a ``` b\nx\nc ``` d", "x"},
		"thinking is not cut":  {"<think>\n" + block3("python", "draft") + "</think>\n", "draft"},
		"nothing between them": {fence3 + "\n" + fence3, ""},
	} {
		if got := Extract(ExtractLCB, Answer{Final: c.text}); got.Code != c.want {
			t.Errorf("%s: got %q, want %q", name, got.Code, c.want)
		}
	}
}

func TestExtractVerl(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"first of the transcript":      {block3("python", "print(1)") + "later\n" + block3("python", "print(2)"), "print(1)"},
		"closed thinking is removed":   {"<think>" + block3("python", "draft") + "</think>" + block3("python", "print(2)"), "print(2)"},
		"unclosed thinking stays":      {"<think>\n" + block3("python", "draft"), "draft"},
		"first of any without Python":  {block3("text", "a") + block3("cpp", "b"), "a"},
		"Python before another":        {block3("text", "a") + block3("Python3", "b"), "b"},
		"unclosed only when alone":     {"so\n" + fence3 + "python\nprint(3)", "print(3)"},
		"nothing":                      {"no code at all", ""},
		"closed goes before unclosed":  {block3("", "a") + fence3 + "python\nb", "a"},
		"label-less block is no match": {block3("", "a") + block3("python", "b"), "b"},
	} {
		if got := Extract(ExtractVerl, Answer{Transcript: c.text}); got.Code != c.want {
			t.Errorf("%s: got %q, want %q", name, got.Code, c.want)
		}
	}
}

func TestParseRule(t *testing.T) {
	for _, name := range []string{"last", "lcb", "verl"} {
		if rule, err := ParseRule(name); err != nil || string(rule) != name {
			t.Errorf("%s: %v, %v", name, rule, err)
		}
	}
	if _, err := ParseRule("first"); err == nil || !strings.Contains(err.Error(), "none of last, lcb, verl") {
		t.Errorf("unknown rule: %v", err)
	}
}

// FuzzExtract: whatever a model writes, code comes from the text itself.
func FuzzExtract(f *testing.F) {
	f.Add(block3("python", "print(1)"), true)
	f.Add("~~~\n```\n~~~~\n</think>", false)
	f.Fuzz(func(t *testing.T, text string, opened bool) {
		for _, rule := range []Rule{ExtractLast, ExtractLCB, ExtractVerl} {
			e := Extract(rule, Answer{Final: text, Transcript: text, Opened: opened})
			if (e.Code == "") != (e.Step == "") {
				t.Errorf("%s: %+v", rule, e)
			}
			for _, line := range strings.Split(e.Code, "\n") {
				if !strings.Contains(text, strings.TrimRight(line, "\r")) {
					t.Errorf("%s: line %q is not in the answer", rule, line)
				}
			}
		}
	})
}
