package service

import (
	"errors"
	"strings"
	"testing"

	"github.com/coderl/cr/sandbox"
)

// proofRows are tests as MultiPL-E writes them for a function f(a, b) that adds,
// with a right program, a wrong one, and one that leaves with status 0.
var proofRows = []struct{ language, right, wrong, leaves, tests string }{
	{
		"cpp", "long f(long a, long b) { return a + b; }\n", "long f(long a, long b) { return a; }\n",
		"long f(long a, long b) { exit(0); }\n",
		"int main() {\n  auto candidate = f;\n  assert(candidate((2), (3)) == (5));\n}\n",
	},
	{
		"cpp", "#define int long\nint f(int a, int b) { return a + b; }\n",
		"#undef assert\n#define assert(x)\nlong f(long a, long b) { return a; }\n",
		"#define if(x) while (false)\n#define main main() { return 0; } int other\nlong f(long a, long b) { return 0; }\n",
		"int main() {\n  auto candidate = f;\n  assert(candidate((2), (3)) == (5));\n}\n",
	},
	{
		"java", "class Problem {\n    public static long f(long a, long b) { return a + b; }\n",
		"class Problem {\n    public static long f(long a, long b) { return a; }\n",
		"class Problem {\n    static { System.exit(0); }\n    public static long f(long a, long b) { return a; }\n",
		"    public static void main(String[] args) {\n    assert(f((2l), (3l)) == (5l));\n    }\n\n}\n",
	},
	{
		"rust", "fn f(a: isize, b: isize) -> isize { a + b }\n", "fn f(a: isize, b: isize) -> isize { a - b }\n",
		"fn f(a: isize, b: isize) -> isize { std::process::exit(0) }\n",
		"fn main() {\n    let candidate = f;\n    assert_eq!(candidate(2, 3), 5);\n}\n",
	},
	{
		"nodejs", "function f(a, b) { return a + b; }\n", "function f(a, b) { return a; }\n", "function f(a, b) { process.exit(0); }\n",
		"const assert = require('node:assert');\nfunction test() {\n  let candidate = f;\n  assert.deepEqual(candidate(2, 3),5);\n}\n\ntest();\n",
	},
	{
		"bash", "f() {\n    echo $(($1 + $2))\n", "f() {\n    echo $1\n", "exit 0\nf() {\n    echo $1\n",
		"}\n\ncandidate() {\n    f \"$@\"\n}\n\nset -e\nrun_test() {\n    [[ $(candidate \"2\" \"3\") = \"5\" ]]\n}\n\nrun_test\n",
	},
	{
		"lua", "local function f(a, b)\n    return a + b\nend\n", "local function f(a, b)\n    return a\nend\n", "local function f(a, b)\n    os.exit(0)\nend\n",
		"lu = require('luaunit')\n\nfunction test_humaneval()\nlocal candidate = f\n    lu.assertEquals(candidate(2, 3), 5)\nend\n\nos.exit(lu.LuaUnit.run())\n",
	},
	{
		"ruby", "def f(a, b)\n  a + b\nend\n", "def f(a, b)\n  a\nend\n", "def f(a, b)\n  exit!(0)\nend\n",
		"require 'test/unit'\nclass TestHumanEval < Test::Unit::TestCase\n  def test_f\n    candidate = method(:f)\n    assert_equal(5, candidate.call(2, 3))\n  end\nend\n",
	},
	{
		"racket", "#lang racket\n(define (f a b) (+ a b))\n", "#lang racket\n(define (f a b) a)\n", "#lang racket\n(define (f a b) (exit 0))\n",
		"(require rackunit)\n\n(define (test-humaneval) (let ((candidate f))\n    (check-within (candidate 2 3) 5 0.001)\n))\n\n(test-humaneval)\n",
	},
	{
		"R", "f <- function(a, b) {\n    a + b\n}\n", "f <- function(a, b) {\n    a\n}\n", "f <- function(a, b) {\n    quit('no', 0)\n}\n",
		"test_humaneval <- function() {\ncandidate <- f\n    if(!identical(candidate(2, 3), 5)){quit('no', 1)}\n}\ntest_humaneval()\n",
	},
	{
		"perl", "sub f {\n    my($a, $b) = @_;\n    return $a + $b;\n}\n", "sub f {\n    return 0;\n}\n", "sub f {\n    exit 0;\n}\n",
		"sub testhumaneval {\n    my $candidate = \\&f;\n    exit 1 unless $candidate->(2, 3) == 5;\n}\n\ntesthumaneval();\n",
	},
	{
		"php", "<?php\nfunction f($a, $b) {\n    return $a + $b;\n}\n", "<?php\nfunction f($a, $b) {\n    return $a;\n}\n", "<?php\nfunction f($a, $b) {\n    exit(0);\n}\n",
		"function candidate(...$args) {\n    return f(...$args);\n}\n\nfunction test(): void {\n    if (candidate(2, 3) !== 5) { throw new Exception(\"Test failed!\"); }\n}\n\ntest();\n",
	},
}

func TestTestsProveTheirEnd(t *testing.T) {
	asserts := asserts(t)
	for _, row := range proofRows {
		t.Run(row.language, func(t *testing.T) {
			for code, want := range map[string]bool{row.right: true, row.wrong: false, row.leaves: false} {
				got, err := asserts.JudgeAssert(t.Context(), AssertTask{Language: row.language, Code: code, Tests: row.tests})
				if errors.As(err, new(*sandbox.LanguageError)) {
					t.Skip(err)
				}
				if err != nil {
					t.Fatal(err)
				}
				said := string(got.Run.Stdout) + string(got.Run.Stderr)
				if step := got.Run.Compile; step != nil {
					said += string(step.Stderr)
				}
				if want && strings.Contains(said, "luaunit' not found") {
					t.Skip("luaunit is not there")
				}
				if (got.Verdict == sandbox.AC) != want {
					t.Errorf("%s: %s (%s), want accepted to be %v\n%.2000s", code, got.Verdict, got.Detail, want, said)
				}
			}
		})
	}
}
