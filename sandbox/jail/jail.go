// Package jail runs one program at a time in each of a few lanes, apart from the
// host and from each other, and reports what happened as facts: exit status,
// signal, CPU time, peak memory, output. What the facts mean is for the caller.
//
// A lane is a process that is PID 1 of its own namespaces, sees a read-only
// tree of its own, and holds a warm interpreter. It pays for namespaces and
// imports once; each job is then a fork in it. After a job everything the job
// started is killed and everything it wrote is removed; after anything odd the
// whole lane is replaced.
package jail

import (
	"encoding/json"
	"errors"
	"time"
)

// ErrNoIsolation means that this host lets the jail keep nothing apart.
var ErrNoIsolation = errors.New("this host gives the sandbox no isolation")

// ErrClosed is returned for jobs that meet a closed pool.
var ErrClosed = errors.New("the sandbox is closed")

// Job is one run. All limits are set.
type Job struct {
	Code  []byte
	Stdin []byte
	Files map[string][]byte // by path below the working directory
	// Fetch names files to bring back, by path below the working directory. A
	// path that ends in / stands for all files of that directory, which is made
	// before the program starts.
	Fetch    []string
	Args     []string
	Call     *Call
	Check    *Check // nil: no test code; its verdict is Outcome.Value
	Prelude  bool
	LongInts bool // integers of many digits, also without the prelude
	Limits   Limits
	Exec     *Exec // nil: Code is Python for the lane's warm interpreter
}

// Exec runs a program of the jail's file system instead of Python code. The
// job's files are executable for it.
type Exec struct {
	Argv  []string
	Env   []string // NAME=VALUE, besides the jail's own
	Stack int64    // bytes of the main thread's stack
	// Sparse is for run-time systems that map far more than they use: their
	// address space is never limited.
	Sparse bool
}

// Call names the function whose value is wanted.
type Call struct {
	Class  string            `json:"class"`
	Method string            `json:"method"`
	Args   []json.RawMessage `json:"-"`
}

// Check is test code for the program, and how to run it.
type Check struct {
	Tests    string
	Entry    string
	Setup    string
	Main     bool // the program runs as __main__
	Together bool // in one process
}

// checked says whether a checker runs beside the program.
func (j *Job) checked() bool { return j.Check != nil && !j.Check.Together }

// Limits bound a job.
type Limits struct {
	CPU       time.Duration
	Wall      time.Duration
	Memory    int64
	Output    int64 // stdout, and a call's value
	Processes int
	// AddressSpace limits what each process may map, besides what all may use.
	AddressSpace bool
}

// Stop says why the jail ended a job before it ended by itself.
type Stop int

// The reasons to end a job.
const (
	NotStopped Stop = iota
	StopCPU
	StopWall
	StopOutput
	StopMemory
)

// Report is what the trusted part of the job's process said about it.
type Report int

// The reports. A program that ends on its own, as most do, gives none.
const (
	NoReport      Report = iota
	ReportValue          // a call returned; Outcome.Value holds the value
	ReportCompile        // the program is not valid source code
	ReportMemory         // an allocation was refused and the program did not cope
	ReportForged         // bytes came that the trusted part cannot have written
)

// Outcome is what a job did.
type Outcome struct {
	Stop     Stop
	Report   Report
	ExitCode int
	Signal   string // "SIGSEGV", "" if none
	OOMKills int64  // processes killed for want of memory
	Stdout   []byte
	Stderr   []byte
	Value    json.RawMessage
	CPU      time.Duration
	Wall     time.Duration
	Memory   int64 // peak bytes
	Files    map[string][]byte
}
