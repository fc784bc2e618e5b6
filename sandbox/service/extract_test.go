package service

import (
	"net/http"
	"strings"
	"testing"
)

// TestExtraction judges completions by a program that prints 3, so that a row
// passes when the right text was taken for the program.
func TestExtraction(t *testing.T) {
	url := jailed(t)
	custom := "submit_code_blocks([CodeBlock(priority=40, code=completion.split('@')[1], language='python')])"
	for _, tt := range []struct{ name, completion, custom, want string }{
		{"fenced", "Text.\n```python\nprint(3)\n```\nMore.", "", "print(3)"},
		{"the first of two", "```python\nprint(3)\n```\n```python\nprint(4)\n```", "", "print(3)"},
		{"the language's, not the first", "```text\nprint(4)\n```\n```py\nprint(3)\n```", "", "print(3)"},
		{"of any language, when none is the one", "```\nprint(3)\n```", "", "print(3)"},
		{"letter case of a tag", "```text\nx\n```\n```Python3\nprint(3)\n```", "", "print(3)"},
		{"unclosed", "```python\nprint(3)", "", "print(3)"},
		{"closed before unclosed", "```python\nprint(3)\n```\n```python\nprint(4)", "", "print(3)"},
		{"indented fence", "  ```python\nprint(3)\n  ```", "", "print(3)"},
		{"a whole program", "import sys\n\ndef f():\n    print(3)\n\nf()\n", "", "import sys\n\ndef f():\n    print(3)\n\nf()\n"},
		{"a function in prose", "It is this:\n\nimport sys\ndef f():\n    return 3\n\nI hope it helps.", "", "import sys\ndef f():\n    return 3\n"},
		{"prose", "I do not know.", "", ""},
		{"nothing", "", "", ""},
		{"own logic", "@print(3)@ ```python\nprint(4)\n```", custom, "print(3)"},
		{"own logic that prints", "@print(3)@", "print('noise')\n" + custom, "print(3)"},
		{"own logic without a block", "```python\nprint(3)\n```", "pass", "print(3)"},
	} {
		body := batch("", []string{""}, []string{"3"}, object{})
		body["completion"] = tt.completion
		if tt.custom != "" {
			body["config"].(object)["custom_extract_logic"] = tt.custom
		}
		if e := post(t, url+"/common_evaluate_batch", body).eval(t); e.ExtractedCode != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, e.ExtractedCode, tt.want)
		}
	}
}

func TestCustomLogicFailsAsTheClients(t *testing.T) {
	url := jailed(t)
	for _, tt := range []struct{ logic, said string }{
		{"raise ValueError('no')", "ValueError: no"},
		{"exit()", "unreadable"},
		{"submit_code_blocks([1])", "AttributeError"},
		{"import os; os.kill(os.getpid(), 9)", "failed"},
		{"x = ", "SyntaxError"},
	} {
		body := batch("x", []string{""}, []string{""}, object{})
		body["config"].(object)["custom_extract_logic"] = tt.logic
		got := post(t, url+"/common_evaluate_batch", body)
		if got.code != http.StatusBadRequest || !strings.Contains(string(got.body), tt.said) {
			t.Errorf("%s: got %d %s", tt.logic, got.code, got.body)
		}
	}
}

// TestManyImportsTakeLinearTime searches a text that takes a backtracking expression seconds:
// lines that could begin a function, and do not.
func TestManyImportsTakeLinearTime(t *testing.T) {
	text := "so:\n" + strings.Repeat("import sys\n", 100_000)
	if got := definitions.FindString(withoutBlankLines(text)); got != "" {
		t.Errorf("found %.40q", got)
	}
}
