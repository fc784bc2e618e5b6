// Package sandbox runs untrusted programs under limits and says what happened.
//
// An error from an [Executor] is always ours (the job could not be run); what
// the program did is in the [Result]. The two never mix: a judge that could not
// run is infra_error, not a wrong answer.
package sandbox

import (
	"context"
	"encoding/json"
	"time"
)

// Executor runs jobs. It is safe for concurrent use; Run waits for a free slot,
// and limits count from the program's start, not from queueing.
type Executor interface {
	Run(ctx context.Context, job Job) (Result, error)
	// Isolation says which layers hold; it is recorded with every result.
	Isolation() Isolation
	Close() error
}

// Isolation describes how programs are kept apart from the host.
type Isolation struct {
	Tier        string   `json:"tier"` // T0..T3, see docs/sandbox.md; "remote" for a service
	Layers      []string `json:"layers"`
	Interpreter string   `json:"interpreter"` // version of the Python that runs programs
}

// Job is one program run. Expected output is not part of it: it never enters
// the jail.
type Job struct {
	Language string // "python"
	Code     string
	Stdin    []byte
	Call     *Call // nil: run the program as __main__
	// Check runs test code on the program, in a process of its own; nil: none.
	Check *Check
	// Prelude gives the program LiveCodeBench's imports, a deep recursion limit
	// and long integers, as published scores assume.
	Prelude bool
	// LongInts lifts the limit on the digits of integers alone, as judges do.
	LongInts bool
	Files    map[string][]byte // extra files, by path below the working directory
	Fetch    []string          // files to bring back, by path below the working directory
	Args     []string          // command-line arguments
	Limits   Limits
	// CompileTime bounds the compiler, where the language has one; zero means
	// the default.
	CompileTime time.Duration
}

// Call asks for a function's return value instead of a program's output.
type Call struct {
	Class  string            // class to instantiate without arguments; "" for a plain function
	Method string            // method or function name
	Args   []json.RawMessage // positional arguments, one JSON value each
}

// Check asks whether assertions about a program hold. The test code reaches the
// program only by calls; arguments and values cross as data.
type Check struct {
	Tests string // asserts, or a function check(candidate) as HumanEval has it
	Entry string // name of the function under test; "" for asserts that name it themselves
	Setup string // trusted code for the tests to stand on, such as a HumanEval prompt
	Main  bool   // run the program as __main__; otherwise as an imported module
	// Together runs the tests in the program's own process. Tests that hand
	// objects of their own to the program need it, and a program that sets out to
	// can then fool them.
	Together bool
}

// CheckResult is what came of a Check.
type CheckResult struct {
	Passed bool      `json:"passed"`
	Kind   CheckKind `json:"kind"` // why not
	Detail string    `json:"detail"`
}

// CheckKind says why a check did not pass.
type CheckKind string

// The kinds of failed checks.
const (
	CheckAssert CheckKind = "assert" // an assertion failed, or the test code on what it got
	CheckError  CheckKind = "error"  // the program raised an exception
	CheckExit   CheckKind = "exit"   // the program ended before the tests did
	CheckTask   CheckKind = "task"   // the test code is at fault
	CheckLive   CheckKind = "live"   // the test code needs Check.Together
)

// Limits bound a job. Zero fields mean the default.
type Limits struct {
	CPU       time.Duration // CPU time of all processes; decides TLE
	Wall      time.Duration // guard against sleeping; default max(2·CPU, CPU+1s)
	Memory    int64         // bytes
	Output    int64         // bytes of stdout; more is OLE
	Processes int
	// AddressSpace also refuses each process to map much more than Memory, so
	// that it sees its own allocation fail (Python: MemoryError) instead of
	// being killed.
	AddressSpace bool
}

// Status is how a run ended.
type Status string

// The statuses of a run. OK means exit status 0 and, for a Call, a value.
const (
	OK                  Status = "OK"
	TimeLimitExceeded   Status = "TLE"
	MemoryLimitExceeded Status = "MLE"
	OutputLimitExceeded Status = "OLE"
	RuntimeError        Status = "RE"
	CompileError        Status = "CE"
)

// Result is what a program did.
type Result struct {
	Status   Status
	ExitCode int
	Signal   string // name of the killing signal, "" if none
	Stdout   []byte
	Stderr   []byte // head and tail, cut in the middle when long
	// Value is a Call's return value as JSON, nil if it never came back. NaN,
	// Infinity and -Infinity stand for those numbers, as Python writes them.
	Value json.RawMessage
	// Check is what came of Job.Check; nil if it came to no result.
	Check  *CheckResult
	CPU    time.Duration
	Wall   time.Duration
	Memory int64 // peak bytes
	// Files are those of Job.Fetch that the program left as regular files.
	Files map[string][]byte
	// Compile is what the compiler did; nil for a language without one. When it
	// failed, nothing ran: Status is CompileError and the rest is empty.
	Compile *Step
}

// Step is what a compiler did.
type Step struct {
	Status   Status // OK, TimeLimitExceeded, or CompileError for any other failure
	ExitCode int
	Stdout   []byte
	Stderr   []byte
	Wall     time.Duration
}

// Verdict is a judgement, in the one spelling used everywhere.
type Verdict string

// The verdicts.
const (
	AC          Verdict = "AC"
	WA          Verdict = "WA"
	TLE         Verdict = "TLE"
	MLE         Verdict = "MLE"
	OLE         Verdict = "OLE"
	RE          Verdict = "RE"
	CE          Verdict = "CE"
	NoCode      Verdict = "no_code"
	Truncated   Verdict = "truncated"
	InvalidTask Verdict = "invalid_task"
	InfraError  Verdict = "infra_error"
)
