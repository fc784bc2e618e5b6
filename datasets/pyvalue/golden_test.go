package pyvalue

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"testing"
)

// golden is a line of testdata/golden.jsonl, written by golden.py with CPython.
type golden struct {
	Text, Literal, JSON string
}

func TestAgainstCPython(t *testing.T) {
	f, err := os.Open(goldenFile())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	var literals Literals
	for n := 1; lines.Scan(); n++ {
		var g golden
		if err := json.Unmarshal(lines.Bytes(), &g); err != nil {
			t.Fatal(err)
		}
		if got := outcome(literals.Parse(g.Text)); got != g.Literal {
			t.Errorf("line %d: literal_eval(%.200q): %.200s, CPython %.200s", n, g.Text, got, g.Literal)
		}
		if got := outcome(ParseJSON(g.Text)); got != g.JSON {
			t.Errorf("line %d: json.loads(%.200q): %.200s, CPython %.200s", n, g.Text, got, g.JSON)
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
}

// goldenFile is the committed file, or a larger one made by golden.py.
func goldenFile() string {
	if path := os.Getenv("CR_TEST_PYVALUE"); path != "" {
		return path
	}
	return "testdata/golden.jsonl"
}

// outcome puts a result in golden.py's words.
func outcome(v Value, err error) string {
	var raised *Raised
	switch {
	case errors.As(err, &raised):
		return raised.Exception
	case err != nil:
		return "refused"
	}
	text, err := AppendJSON(nil, v)
	if errors.As(err, &raised) {
		return "dumps " + raised.Exception
	}
	return string(text)
}
