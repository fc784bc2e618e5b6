// Package selftest attacks a sandbox as hostile programs do and says which of
// its layers hold on this host. Its table is what `cr sandbox check` prints and
// what the package's test runs.
package selftest

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/coderl/cr/sandbox"
)

// Attempt is one program with the one right outcome.
type Attempt struct {
	Name    string
	Code    string
	Stdin   string
	Limits  sandbox.Limits
	Call    *sandbox.Call
	Check   *sandbox.Check
	Fetch   []string
	Prelude bool

	Want   sandbox.Status
	Signal string // name of the killing signal
	Exit   int
	Stdout string // exact, when set
	Stderr string // contained, when set
	// Or is another right answer on stdout, for what a host may lack.
	Or string
	// Failed says that the check must not pass.
	Failed bool
}

// Row is one line of the table: a kind of attack, by one or more programs that
// run one after another.
type Row struct {
	Number   int
	Name     string
	Tried    string
	Attempts []Attempt
}

// Outcome is how a row ended.
type Outcome struct {
	Number int    `json:"row"`
	Name   string `json:"name"`
	Tried  string `json:"tried"`
	Found  string `json:"outcome"`
	OK     bool   `json:"ok"`
}

// Run carries out one row. An error is the sandbox's own failure.
func Run(ctx context.Context, exec sandbox.Executor, row Row) (Outcome, error) {
	out := Outcome{Number: row.Number, Name: row.Name, Tried: row.Tried, OK: true}
	for i := range row.Attempts {
		a := &row.Attempts[i]
		r, err := exec.Run(ctx, a.job())
		if err != nil {
			return out, fmt.Errorf("self-test row %d, %s: %w", row.Number, a.Name, err)
		}
		if wrong := a.wrong(&r); wrong != "" {
			out.OK, out.Found = false, a.Name+": "+wrong
			return out, nil
		}
	}
	out.Found = summary(row.Attempts)
	return out, nil
}

// RunAll carries out all rows and, last, looks for leaks over many runs. Each
// outcome is handed to done as it comes.
func RunAll(ctx context.Context, exec sandbox.Executor, runs int, done func(Outcome)) error {
	for _, row := range Rows() {
		out, err := Run(ctx, exec, row)
		if err != nil {
			return err
		}
		done(out)
	}
	out, err := leaks(ctx, exec, runs)
	if err == nil {
		done(out)
	}
	return err
}

func (a *Attempt) job() sandbox.Job {
	return sandbox.Job{
		Language: "python", Code: a.Code, Stdin: []byte(a.Stdin), Limits: a.Limits,
		Call: a.Call, Check: a.Check, Fetch: a.Fetch, Prelude: a.Prelude,
	}
}

// wrong says what is not as it must be, "" when all is.
func (a *Attempt) wrong(r *sandbox.Result) string {
	ended := r.Status == sandbox.OK || r.Status == sandbox.RuntimeError || r.Status == sandbox.CompileError
	switch {
	case r.Status != a.Want:
		return fmt.Sprintf("%s, want %s (exit %d %s; stderr %.200q)", r.Status, a.Want, r.ExitCode, r.Signal, r.Stderr)
	case ended && a.Call == nil && (r.Signal != a.Signal || r.ExitCode != a.Exit):
		return fmt.Sprintf("exit %d %s, want %d %s", r.ExitCode, r.Signal, a.Exit, a.Signal)
	case a.Stdout != "" && string(r.Stdout) != a.Stdout && (a.Or == "" || string(r.Stdout) != a.Or):
		return fmt.Sprintf("stdout %.80q, want %q; stderr %.200q", r.Stdout, a.Stdout, r.Stderr)
	case !strings.Contains(string(r.Stderr), a.Stderr):
		return fmt.Sprintf("stderr %.200q lacks %q", r.Stderr, a.Stderr)
	case a.Failed && (r.Check == nil || r.Check.Passed):
		return "the cheat passed the check"
	case len(r.Files) > 0:
		return "a file came back that is none of the program's"
	}
	return ""
}

// summary is what a row that holds has shown.
func summary(attempts []Attempt) string {
	var found []string
	for i := range attempts {
		a := &attempts[i]
		word := string(a.Want)
		switch {
		case a.Failed:
			word = "rejected"
		case a.Signal != "":
			word = a.Signal
		case a.Exit != 0:
			word = fmt.Sprintf("exit %d", a.Exit)
		case a.Stdout == refused:
			word = "refused"
		}
		if len(found) == 0 || found[len(found)-1] != word {
			found = append(found, word)
		}
	}
	return strings.Join(found, ", ")
}

// refused is what an attempt prints that was not allowed.
const refused = "refused\n"

// second is a CPU limit that a test can exceed quickly.
var second = sandbox.Limits{CPU: time.Second}

// small is a memory limit that a test can exceed quickly.
var small = sandbox.Limits{CPU: 5 * time.Second, Memory: 256 << 20}

// py joins the lines of a program.
func py(lines ...string) string { return strings.Join(lines, "\n") + "\n" }

// callNumbers are the system calls that attempts make by number.
const callNumbers = `nr = dict(mount=165, unshare=272, ptrace=101, vm_readv=310, add_key=248, shmget=29, mq_open=240, semget=64,
    bpf=321, userfaultfd=323, perf=298, io_uring=425, clock_settime=227, setns=308, msgget=68, inotify_init1=294) if os.uname().machine == "x86_64" else dict(
    mount=40, unshare=97, ptrace=117, vm_readv=270, add_key=217, shmget=194, mq_open=180, semget=190,
    bpf=280, userfaultfd=282, perf=241, io_uring=425, clock_settime=112, setns=268, msgget=186, inotify_init1=26)`

// attempt is a program that tries what must be refused with an OSError.
func attempt(name, expression string, setup ...string) Attempt {
	return Attempt{
		Name: name, Want: sandbox.OK, Stdout: refused,
		Code: py("import os, socket, ctypes, fcntl, resource, signal, sys", callNumbers,
			"libc = ctypes.CDLL(None, use_errno=True)",
			"def sys_(name, *a):",
			"    if libc.syscall(nr[name], *a) < 0: raise OSError(ctypes.get_errno(), 'syscall')",
			py(setup...), "try:", "    "+expression, "except (OSError, ValueError):", "    print('refused')", "else:", "    print('allowed')"),
	}
}
