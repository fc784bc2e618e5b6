// Package judge decides whether a program's answers are right. It compares
// outside the jail: expected output never reaches the program.
package judge

import (
	"time"

	"github.com/coderl/cr/sandbox"
)

// Mode is a comparison rule for program output.
type Mode string

// The comparison modes; see docs/judge.md.
const (
	Published Mode = "published" // LiveCodeBench's rule to the letter
	Strict    Mode = "strict"    // the same without its oddities
	Lines     Mode = "lines"     // strict, with white space inside a line free and no tolerance
	Tokens    Mode = "tokens"    // split at white space
)

// Test is one test case.
type Test struct {
	Input  string // stdin text, or one JSON value a line (positional arguments)
	Output string // expected stdout text, or one JSON value
}

// Task is what a program is judged on.
type Task struct {
	ID       string
	Language string // "python"
	Method   string // functional: method name of class Solution; "" for stdin programs
	Function bool   // Method is a function of the program itself, not of class Solution
	// Plain runs the program as it is, without LiveCodeBench's prelude; only the
	// limit on the digits of integers is lifted.
	Plain   bool
	Tests   []Test
	Assert  *Assert // instead of Tests: judged by test code
	Mode    Mode
	Checker *Checker // nil: Mode decides
	Limits  sandbox.Limits
	// CompileTime bounds the compiler, where the language has one; zero means
	// the default.
	CompileTime time.Duration
}

// Checker replaces the comparison for a problem that grants a tolerance or has
// several right answers.
type Checker struct {
	Mode     string  `json:"mode"` // rel_or_abs, abs, tokens, exact, program
	Eps      float64 `json:"eps,omitempty"`
	Reals    bool    `json:"reals,omitempty"`    // Eps holds also where the expected number is written as an integer
	Language string  `json:"language,omitempty"` // of a special judge
	Code     string  `json:"code,omitempty"`     // called with three paths: input, output, expected; exit 0 accepts
	Form     Form    `json:"form,omitempty"`     // how a special judge is called
}

// Form is a convention for calling special judges.
type Form string

// The forms.
const (
	ByPath Form = "" // three paths as arguments; a judge that crashes has no opinion
	// ByName is ScaleBox's: stdin.txt (input), stdout.txt (expected) and
	// answer.txt (output) in the working directory; a judge that crashes says no,
	// since those in use raise on answers that they cannot read.
	ByName Form = "by_name"
	// Testlib is that of testlib.h, and of Codeforces: three paths as for ByPath,
	// and exit statuses of which 3 is the judge's own failure.
	Testlib Form = "testlib"
)

// TestResult is one test's outcome.
type TestResult struct {
	Verdict sandbox.Verdict
	CPU     time.Duration
	Memory  int64
	// Together says that test code ran in the program's own process, where a
	// program that sets out to can fool it.
	Together bool
	Detail   string // one line for people: what differed, or how the program died
	// Run is what the program did; only [Judge.JudgeTest] keeps it.
	Run sandbox.Result
}

// Report is a program's judgement over all its tests, in order.
type Report struct {
	Verdict sandbox.Verdict // AC, or the first verdict that is not
	Tests   []TestResult
}
