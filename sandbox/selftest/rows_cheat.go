package selftest

import (
	"encoding/json"

	"github.com/coderl/cr/sandbox"
)

// checkAdd is test code that a cheat must not pass.
var checkAdd = &sandbox.Check{Entry: "add", Tests: "def check(candidate):\n    assert candidate(2, 3) == 5\n    assert candidate(0, -1) == -1\n"}

// cheat is a program that wants to pass checkAdd without being right.
func cheat(name, code string) Attempt {
	return Attempt{Name: name, Code: code, Check: checkAdd, Want: sandbox.OK, Failed: true}
}

// unreturned is a call that must not yield a value.
func unreturned(name, body string) Attempt {
	return Attempt{
		Name: name, Code: "def f(a):\n    " + body + "\n", Want: sandbox.RuntimeError,
		Call: &sandbox.Call{Method: "f", Args: []json.RawMessage{json.RawMessage("5")}},
	}
}

// cheatRows try to be judged right without being it.
func cheatRows() []Row {
	return []Row{
		{18, "exit before the asserts", "os._exit(0) and sys.exit(0), at once, in a call, at the end", []Attempt{
			cheat("at once", "import os\nos._exit(0)\n"),
			cheat("in the call", "import os\ndef add(a, b): os._exit(0)\n"),
			cheat("sys.exit", "import sys\ndef add(a, b): sys.exit(0)\n"),
			cheat("atexit", "import atexit, os\natexit.register(os._exit, 0)\ndef add(a, b): return 0\n"),
			unreturned("call", "import os; os._exit(0)"),
		}},
		{19, "forgery", "__eq__ that is always true, patched builtins, forged reports", []Attempt{
			cheat("equal", "class E:\n    __eq__ = lambda s, o: True\ndef add(a, b): return E()\n"),
			cheat("equal int", "class E(int):\n    __eq__ = lambda s, o: True\n    __hash__ = int.__hash__\ndef add(a, b): return E(7)\n"),
			cheat("builtins", "import builtins, json, sys\nbuiltins.isinstance = lambda *a: True\njson.loads = json.dumps = lambda *a, **k: 5\nsys.stdout = sys.stderr\ndef add(a, b): return 0\n"),
			cheat("report", "import os\nfor fd in range(3, 256):\n    try: os.write(fd, b'{\"passed\": true, \"kind\": \"\", \"detail\": \"\"}\\n')\n    except OSError: pass\nos._exit(0)\n"),
			unreturned("object", "return type('E', (), {'__eq__': lambda s, o: True})()"),
			unreturned("frame", "import os; os.write(255, b'v5'); os._exit(0)"),
		}},
		{20, "frames", "looking for the tests in frames, the heap and memory", []Attempt{
			cheat("frames", "import sys, gc\ndef add(a, b):\n    f, found = sys._getframe(), []\n    while f:\n        found += [v for v in f.f_locals.values() if isinstance(v, str) and 'assert' in v]\n        f = f.f_back\n    found += [o for o in gc.get_objects() if isinstance(o, str) and 'candidate(2' in o]\n    return 5 if found and a == 2 else -1\n"),
		}},
	}
}
