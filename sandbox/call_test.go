package sandbox_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/coderl/cr/sandbox"
)

// raw makes call arguments.
func raw(args ...string) []json.RawMessage {
	out := make([]json.RawMessage, len(args))
	for i, a := range args {
		out[i] = json.RawMessage(a)
	}
	return out
}

// TestCallValues fixes how values travel: Python's own json is the oracle for
// the spelling, and the type rules are those of the package documentation.
func TestCallValues(t *testing.T) {
	l := open(t, sandbox.LocalOptions{Workers: 2})
	rows := []struct {
		name, body string
		args       []string
		want       string // "" means RE
	}{
		{"int", "return a + 1", []string{"41"}, "42"},
		{"bool stays bool", "return a", []string{"true"}, "true"},
		{"float keeps its point", "return a", []string{"2.0"}, "2.0"},
		{"shortest float", "return a + 0.2", []string{"0.1"}, "0.30000000000000004"},
		{"none", "return None", []string{"0"}, "null"},
		{"not finite", "return [float('nan'), float('inf'), -float('inf')]", []string{"0"}, "[NaN, Infinity, -Infinity]"},
		{"big integer", "return a * 10**5000", []string{"12345678901234567890123"}, "12345678901234567890123" + strings.Repeat("0", 5000)},
		{"tuple is a list", "return (a, (a, 'x'))", []string{"1"}, `[1, [1, "x"]]`},
		{"text", "return a + '\\u00e9\"\\ud800'", []string{`"<&>"`}, `"<&>\u00e9\"\ud800"`},
		{"dict", "return {'k': [a]}", []string{"1"}, `{"k": [1]}`},
		{"default dict", "import collections; d = collections.defaultdict(int); d['k'] += a; return d", []string{"1"}, `{"k": 1}`},
		{"int subclass cannot speak", "class I(int):\n            __eq__ = lambda s, o: True\n            __repr__ = lambda s: '7'\n            __hash__ = None\n        return I(3)", []string{"0"}, "3"},
		{"int keys are not JSON", "return {1: 2}", []string{"0"}, ""},
		{"set is not JSON", "return {1, 2}", []string{"0"}, ""},
		{"forged equality is not JSON", "class E:\n            __eq__ = lambda s, o: True\n        return E()", []string{"0"}, ""},
		{"cycle", "a = []; a.append(a); return a", []string{"0"}, ""},
		{"raise", "raise ValueError('no')", []string{"0"}, ""},
		{"exit 0", "raise SystemExit(0)", []string{"0"}, ""},
		{"os._exit(0)", "import os; os._exit(0)", []string{"0"}, ""},
		{"patched json", "import json; json.dumps = lambda *a, **k: '9'; json.encoder.c_make_encoder = None; return a", []string{"5"}, "5"},
		{"patched builtins", "import builtins, os, sys; os._exit = sys.excepthook = print; builtins.isinstance = lambda *a: True; builtins.type = str; builtins.len = lambda x: 0; return {'a': a}", []string{"5"}, `{"a": 5}`},
		{"forged frame", "import os; os.write(255, b'v9'); os._exit(0)", []string{"5"}, ""},
		{"trailing bytes", "import atexit, os; atexit.register(os.write, 255, b'9'); return a", []string{"[5]"}, ""},
		{"prints do not matter", "print('v9'); return a", []string{"5"}, "5"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			r := run(t, l, sandbox.Job{
				Code: "class Solution:\n    def f(self, a):\n        " + row.body + "\n",
				Call: &sandbox.Call{Class: "Solution", Method: "f", Args: raw(row.args...)},
			})
			want := sandbox.OK
			if row.want == "" {
				want = sandbox.RuntimeError
			}
			if r.Status != want || string(r.Value) != row.want {
				t.Errorf("status %s value %.100q, want %s %.100q\n%s", r.Status, r.Value, want, row.want, r.Stderr)
			}
		})
	}
}

func TestCallShapes(t *testing.T) {
	l := open(t, sandbox.LocalOptions{Workers: 1})
	plain := run(t, l, sandbox.Job{
		Code: "def f(a, b): return a - b\nif __name__ == '__main__': 1 / 0\n",
		Call: &sandbox.Call{Method: "f", Args: raw("7", "5")},
	})
	if string(plain.Value) != "2" {
		t.Errorf("plain function: %s %q %s", plain.Status, plain.Value, plain.Stderr)
	}
	missing := run(t, l, sandbox.Job{Code: "x = 1\n", Call: &sandbox.Call{Class: "Solution", Method: "f"}})
	if missing.Status != sandbox.RuntimeError || !strings.Contains(string(missing.Stderr), "Solution") {
		t.Errorf("missing class: %s %q", missing.Status, missing.Stderr)
	}
	broken := run(t, l, sandbox.Job{Code: "class Solution\n", Call: &sandbox.Call{Class: "Solution", Method: "f"}})
	if broken.Status != sandbox.CompileError {
		t.Errorf("broken source: %s", broken.Status)
	}
	huge := run(t, l, sandbox.Job{
		Code: "def f(n): return list(range(n))\n", Limits: sandbox.Limits{Output: 1 << 20},
		Call: &sandbox.Call{Method: "f", Args: raw("1000000")},
	})
	if huge.Status != sandbox.OutputLimitExceeded {
		t.Errorf("huge value: %s", huge.Status)
	}
}

// TestFailuresAreWhose holds programs to their own failures, and the sandbox to
// its own.
func TestFailuresAreWhose(t *testing.T) {
	l := open(t, sandbox.LocalOptions{Workers: 1})
	const find = "import gc, os, types\n" +
		"def claim():\n" +
		"    for o in gc.get_objects():\n" +
		"        if isinstance(o, types.FunctionType) and o.__name__ == 'report': o(b'i', b'not me')\n"
	for name, job := range map[string]sandbox.Job{
		"program":      {Code: find + "claim()\n"},
		"call":         {Code: find + "def f(): claim()\n", Call: &sandbox.Call{Method: "f"}},
		"with a fetch": {Code: find + "claim()\n", Fetch: []string{"x"}},
		"together": {Code: find + "claim()\ndef f(): return 1\n", Check: &sandbox.Check{
			Tests: "assert f() == 1\n", Together: true,
		}},
	} {
		if r := run(t, l, job); r.Status != sandbox.RuntimeError {
			t.Errorf("%s: %s", name, r.Status)
		}
	}
	deep := strings.Repeat("[", 5000) + strings.Repeat("]", 5000)
	nested := run(t, l, sandbox.Job{
		Code: "def f(a):\n    n = 0\n    while a: a = a[0]; n += 1\n    return n\n",
		Call: &sandbox.Call{Method: "f", Args: raw(deep)},
	})
	if string(nested.Value) != "4999" {
		t.Errorf("nested argument: %s %q %s", nested.Status, nested.Value, nested.Stderr)
	}
	big := make([]byte, 300<<20)
	job := sandbox.Job{Code: "print(1)\n", Files: map[string][]byte{"big": big}}
	if r, err := l.Run(t.Context(), job); err == nil {
		t.Errorf("a file that does not fit: %s", r.Status)
	}
}
