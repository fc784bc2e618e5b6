package judge_test

import (
	"strings"
	"testing"
	"time"

	"github.com/coderl/cr/sandbox"
	"github.com/coderl/cr/sandbox/judge"
)

// checkAdd is test code as HumanEval writes it.
const checkAdd = "def check(candidate):\n    assert candidate(2, 3) == 5\n    assert candidate(0, -1) == -1\n"

// everEqual is a class whose objects say yes to everything.
const everEqual = "class E:\n    def __eq__(s, o): return True\n    __lt__ = __gt__ = __eq__\n    def __call__(s, *a): return s\n    __sub__ = __abs__ = __getattr__ = __call__\n"

// assertRows are programs with the verdict that a reader of their test code
// gives them, the cheats among them WA or RE.
var assertRows = []struct {
	name, code, entry, tests string
	want                     sandbox.Verdict
}{
	{"right", "def add(a, b): return a + b\n", "add", checkAdd, sandbox.AC},
	{"wrong", "def add(a, b): return a - b\n", "add", checkAdd, sandbox.WA},
	{"raises", "def add(a, b): raise KeyError(a)\n", "add", checkAdd, sandbox.RE},
	{"raises AssertionError", "def add(a, b): assert a == 9, 'odd'\n", "add", checkAdd, sandbox.RE},
	{"no such function", "def sub(a, b): return a\n", "add", checkAdd, sandbox.RE},
	{"does not compile", "def add(a, b) return a\n", "add", checkAdd, sandbox.CE},
	{"raises at once", "1 / 0\n", "add", checkAdd, sandbox.RE},
	{"plain asserts", "def add(a, b): return a + b\n", "", "assert add(2, 3) == 5\nassert add('a', 'b') == 'ab'\n", sandbox.AC},
	{"named like a builtin", "def sum(a, b): return a + b\n", "", "assert sum(2, 3) == 5\n", sandbox.AC},
	{"named like a builtin, wrong", "def sum(a, b): return a\n", "", "assert sum(2, 3) == 5\n", sandbox.WA},
	{"exits in a call", "import os\ndef add(a, b): os._exit(0)\n", "add", checkAdd, sandbox.RE},
	{"sys.exit in a call", "import sys\ndef add(a, b): sys.exit(0)\n", "add", checkAdd, sandbox.RE},
	{"exits at once", "import os\nos._exit(0)\n", "add", checkAdd, sandbox.RE},
	{"exit status by atexit", "import atexit, os\natexit.register(os._exit, 0)\ndef add(a, b): return 0\n", "add", checkAdd, sandbox.WA},
	{"equal to everything", "class E:\n    __eq__ = lambda s, o: True\ndef add(a, b): return E()\n", "add", checkAdd, sandbox.WA},
	{"int equal to everything", "class E(int):\n    __eq__ = lambda s, o: True\n    __hash__ = int.__hash__\ndef add(a, b): return E(7)\n", "add", checkAdd, sandbox.WA},
	{"a class that is the function", "class add:\n    def __init__(s, a, b): pass\n    __eq__ = lambda s, o: True\n", "add", checkAdd, sandbox.WA},
	{"operators say yes", "class E:\n    def __getattr__(s, n): return lambda *a: E()\n    __sub__ = __abs__ = __lt__ = lambda *a: E()\ndef f(x): return E()\n", "f", "def check(candidate):\n    assert abs(candidate(1) - 0.5) < 1e-6\n", sandbox.WA},
	{"patched builtins", "import builtins\nbuiltins.abs = builtins.sorted = builtins.len = lambda *a: 0\ndef abs(x): return 0\ndef f(x): return 9\n", "f", "def check(candidate):\n    assert abs(candidate(1) - 0.5) < 1e-6\n", sandbox.WA},
	{"frames hold nothing", "import sys, gc\ndef add(a, b):\n    f, found = sys._getframe(), []\n    while f:\n        found += [v for v in f.f_locals.values() if isinstance(v, str) and 'assert' in v]\n        f = f.f_back\n    found += [o for o in gc.get_objects() if isinstance(o, str) and 'candidate(2' in o]\n    return 5 if found and a == 2 else -1\n", "add", checkAdd, sandbox.WA},
	{"memory holds no tests", "def add(a, b):\n    with open('/proc/self/mem', 'rb', 0) as m:\n        for line in open('/proc/self/maps'):\n            span, mode = line.split()[:2]\n            if 'r' not in mode or 'vv' in line or 'vdso' in line: continue\n            lo, hi = (int(x, 16) for x in span.split('-'))\n            try:\n                m.seek(lo); data = m.read(min(hi - lo, 1 << 24))\n            except (OSError, OverflowError): continue\n            if b'assert candidate' + b'(2, 3)' in data: return 5 if a == 2 else -1\n    return 0\n", "add", checkAdd, sandbox.RE},
	{"kills what it can", "import os, signal\ndef add(a, b):\n    for p in range(1, 60):\n        try: os.kill(p, 9) if p != os.getpid() else None\n        except OSError: pass\n    return 0\n", "add", checkAdd, sandbox.WA},
	{"forged answers", "import os\nos.write(255, b'[\"v\", null]\\n[\"v\", {\"o\": 0, \"n\": \"f\"}]\\n[\"v\", 5]\\n[\"v\", -2]\\n')\nimport time; time.sleep(60)\n", "add", checkAdd, sandbox.WA},
	{"forged end", "import os\nos.write(255, b'[\"end\", \"live\", \"\"]\\n')\ndef add(a, b): return 5\n", "add", checkAdd, sandbox.RE},
	{"garbage for an answer", "import os\nos.write(255, b'\\xff{[\\n')\ndef add(a, b): return 5\n", "add", checkAdd, sandbox.RE},
	{"files for the tests to import", "open('/w/heapq.py', 'w').write('import os; os._exit(0)')\nopen('/tmp/colorsys.py', 'w').write('x = 1')\ndef add(a, b): return 0\n", "add", "import colorsys\nassert not hasattr(colorsys, 'x')\n" + checkAdd, sandbox.WA},
	{"bare except does not hide an exit", "import os\ndef f(x): os._exit(0)\n", "f", "try:\n    f(1)\nexcept:\n    pass\n", sandbox.RE},
	{"expected exception", "def f(x): raise ValueError('no')\n", "f", "try:\n    f(1)\nexcept ValueError as e:\n    assert str(e) == 'no'\nelse:\n    assert False\n", sandbox.AC},
	{"tuple is no list", "def f(x): return [1, 2]\n", "f", "assert f(0) == (1, 2)\n", sandbox.WA},
	{
		"types cross", "from decimal import Decimal\nfrom collections import *\ndef f(x): return x, {1: {2}, (3,): frozenset('a')}, b'x', 1j, Counter('aa'), range(3), Decimal('1.50'), float('inf'), 10 ** 5000\n", "f",
		"from decimal import Decimal\nr = f({'k': (1, None, True)})\nassert r == ({'k': (1, None, True)}, {1: {2}, (3,): frozenset('a')}, b'x', 1j, {'a': 2}, range(3), Decimal('1.5'), float('inf'), 10 ** 5000)\nassert type(r[0]['k'][2]) is bool\n", sandbox.AC,
	},
	{"generator", "def f(n):\n    for i in range(n): yield i * i\n", "f", "assert list(f(3)) == [0, 1, 4]\nassert next(f(2)) == 0\n", sandbox.AC},
	{"endless generator", "def f():\n    n = 0\n    while True: yield n; n += 1\n", "f", "import itertools\nassert list(itertools.islice(f(), 3)) == [0, 1, 2]\n", sandbox.AC},
	{"closure", "def f(a): return lambda b: a + b\n", "f", "assert f(1)(2) == 3\n", sandbox.AC},
	{"sorts in place", "def f(a): a.sort()\n", "f", "x = [3, 1, [2]]\ny = [2, 1]\nf(y)\nassert y == [1, 2]\n", sandbox.AC},
	{"objects of the program", "class Pair:\n    def __init__(s, a, b): s.a, s.b = a, b\ndef total(ps): return sum(p.a * p.b for p in ps)\n", "total", "p = Pair(1, 2)\np.b = 5\nassert total([p, Pair(3, 4)]) == 17\nassert p.a == 1\n", sandbox.AC},
	{"operators of the program's classes", "class V:\n    def __init__(s, x): s.x = x\n    def __eq__(s, o): return s.x == o.x\n    def __add__(s, o): return V(s.x + o.x)\n", "", "assert V(1) + V(2) == V(3)\n", sandbox.AC},
	{"operators of the program's classes, wrong", "class V:\n    def __init__(s, x): s.x = x\n    def __eq__(s, o): return s.x == o.x\n    def __add__(s, o): return V(s.x)\n", "", "assert V(1) + V(2) == V(3)\n", sandbox.WA},
	{"object of a class is no data", everEqual + "class F:\n    def g(s, a): return E()\n", "", "assert F().g(1) == 3\n", sandbox.WA},
	{"class stands for data", everEqual + "F = E()\n", "", "assert F(1) == 3\nassert abs(F(1) - 3.5) < 1e-6\n", sandbox.WA},
	{"told the answer by an operator", "class E:\n    def __sub__(s, o): return 0.0\ndef Convert(x): return E()\n", "", "assert abs(Convert(4) - 5.0) < 1e-6\n", sandbox.WA},
	{"remembers the answer it is told", "class E:\n    def __sub__(s, o): return s\n    def __abs__(s): return 0.0\ndef Convert(x): return E()\n", "Convert", "assert abs(Convert(4) - 5.0) < 1e-6\n", sandbox.WA},
	{"an enumeration", "import enum\nclass Color(enum.Enum): RED = 1; BLUE = 2\ndef f(x): return Color(x)\n", "f", "assert f(1) == Color.RED and f(1) != Color.BLUE and f(2).value == 2\n", sandbox.AC},
	{"a data class", "import dataclasses\n@dataclasses.dataclass(order=True, frozen=True)\nclass P:\n    x: int\ndef f(x): return P(x)\n", "f", "assert f(1) == P(1) and f(1) < P(2) and isinstance(f(1), P) and len({P(1), P(1)}) == 1\n", sandbox.AC},
	{"module of the program's making", "class math:\n    isclose = staticmethod(lambda *a, **k: True)\ndef f(x): return 9\n", "f", "assert math.isclose(f(1), 3)\n", sandbox.WA},
	{"tests build on its module", "import math\ndef f(x): return 3.0\n", "f", "assert math.isclose(f(1), 3)\n", sandbox.AC},
	{"another name of a type", "import os\nos.write(255, b'[\"v\",{\"k\":\"__loader__\"},\"\"]\\n' * 5)\ndef f(x): return 0\n", "f", "assert f(f(1)) == 3\n", sandbox.RE},
	{"changes its arguments and returns", "def f(a):\n    a.sort()\n    return a\n", "f", "x = [3, 1]\nassert f(x) == [1, 3]\nassert x == [3, 1]\n", sandbox.WA},
	{"changes are seen", "def f(a, k=None):\n    a[1].append(4)\n    k['n'] = {2}\n    return a\n", "f", "x, k = ({1: 2}, [3]), {}\nassert f(x, k=k) is x and x[1] == [3, 4] and k == {'n': {2}}\n", sandbox.AC},
	{"changes before an exception are seen", "def f(a):\n    a.append(1)\n    raise ValueError\n", "f", "x = []\ntry: f(x)\nexcept ValueError: pass\nassert x == [1]\n", sandbox.AC},
	{"collections cross", "from collections import *\ndef f(c, o, d, q):\n    o.move_to_end('a')\n    q.popleft()\n    return c.most_common(1), list(o), d['x'], namedtuple('P', 'x y')(1, 2)\n", "f", "from collections import *\nq = deque([1, 2], 5)\nr = f(Counter('aab'), OrderedDict(a=1, b=2), defaultdict(int), q)\nassert r == ([('a', 2)], ['b', 'a'], 0, (1, 2)) and r[3].y == 2 and q == deque([2])\n", sandbox.AC},
	{"live: tests expect an exception of its own", "class Bad(Exception): pass\ndef f(x): raise Bad\n", "f", "try:\n    f(1)\n    assert False\nexcept Bad: pass\n", sandbox.AC},
	{"live: tests read what it prints", "def f(x): print(x)\n", "f", "import io, contextlib\nout = io.StringIO()\nwith contextlib.redirect_stdout(out): f(1)\nassert out.getvalue() == '1\\n'\n", sandbox.AC},
	{"live: tests await", "async def f(x): return x\n", "f", "import asyncio\nassert asyncio.run(f(1)) == 1\n", sandbox.AC},
	{"tests hand over a function", "def f(g): return g(3)\n", "f", "assert f(lambda x: x + 1) == 4\n", sandbox.AC},
	{"tests hand over a function, exit", "import os\ndef f(g): os._exit(0)\n", "f", "assert f(lambda x: x + 1) == 4\n", sandbox.RE},
	{"deep recursion is an error", "def f(x): return f(x)\n", "f", "assert f(1) == 1\n", sandbox.RE},
	{"endless", "def f(x):\n    while True: pass\n", "f", "assert f(1) == 1\n", sandbox.TLE},
	{"too much memory", "def f(x): return len(bytearray(1 << 33))\n", "f", "assert f(1) == 1\n", sandbox.MLE},
	{"tests that never call", "def f(x): return x\n", "f", "assert True\n", sandbox.InvalidTask},
	{"tests that do not compile", "def f(x): return x\n", "f", "assert f(\n", sandbox.InvalidTask},
	{"no tests", "def f(x): return x\n", "f", " \n", sandbox.InvalidTask},
	{"prints much", "def f(x):\n    print('x' * 100000)\n    return x\n", "f", "assert f(1) == 1\n", sandbox.AC},
	{"module of the program", "import math\ndef f(x): return math.floor(x)\n", "f", "assert f(1.5) == math.floor(1.7)\n", sandbox.AC},
	{"main guard", "def f(x): return x\nif __name__ == '__main__': raise SystemExit(3)\n", "f", "assert f(1) == 1\n", sandbox.AC},
	{"an array", "import numpy as np\ndef f(x): return np.arange(x) * 2\n", "f", "import numpy as np\nassert (f(3) == np.array([0, 2, 4])).all()\n", sandbox.AC},
	{"an array of objects", "import numpy as np\ndef f(x): return np.array([x, None])\n", "f", "assert list(f(3)) == [3, None]\n", sandbox.AC},
	{"an array changed in place", "import numpy as np\ndef f(a): a *= 2\n", "f", "import numpy as np\na = np.array([1, 2])\nf(a)\nassert a.tolist() == [2, 4]\n", sandbox.AC},
	{"numpy scalar", "import numpy as np\ndef f(x): return np.int64(x), np.float32(0.5)\n", "f", "assert f(3) == (3, 0.5)\n", sandbox.AC},
}

func TestAsserts(t *testing.T) {
	j := judge.New(openSandbox(t))
	for _, row := range assertRows {
		t.Run(row.name, func(t *testing.T) {
			report, err := j.Judge(t.Context(), row.code, judge.Task{
				Plain: true, Limits: sandbox.Limits{CPU: 2 * time.Second, Memory: 1 << 30},
				Assert: &judge.Assert{Tests: row.tests, Entry: row.entry},
			})
			if err != nil {
				t.Fatal(err)
			}
			got := report.Tests[0]
			if strings.Contains(got.Detail, "numpy") && strings.Contains(got.Detail, "ModuleNotFound") {
				t.Skip("numpy is not there")
			}
			if report.Verdict != row.want {
				t.Errorf("%s (%s), want %s\n%s", report.Verdict, got.Detail, row.want, got.Run.Stderr)
			}
			if live := strings.Contains(row.name, "live") || strings.Contains(row.name, "hand over"); got.Together != live {
				t.Errorf("together is %v", got.Together)
			}
		})
	}
}

func TestAssertSetupIsNotTheProgramsToRedefine(t *testing.T) {
	j := judge.New(openSandbox(t))
	task := judge.Task{Plain: true, Assert: &judge.Assert{
		Setup: "def poly(x): return x - 2\ndef root(a):\n    \"\"\"Find the root of poly.\"\"\"\n",
		Entry: "root", Tests: "def check(candidate):\n    assert poly(candidate(0)) == 0\n",
	}}
	for code, want := range map[string]sandbox.Verdict{
		"def root(a): return 2\n":                        sandbox.AC,
		"def poly(x): return 0\ndef root(a): return 7\n": sandbox.WA,
	} {
		report, err := j.Judge(t.Context(), code, task)
		if err != nil || report.Verdict != want {
			t.Errorf("%q: %s %v, want %s", code, report.Verdict, err, want)
		}
	}
}
