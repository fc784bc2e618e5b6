package sandbox

import (
	"fmt"
	"strings"

	"github.com/coderl/cr/sandbox/jail"
	"github.com/coderl/cr/sandbox/lang"
)

// LanguageError says that programs in a language cannot run here. It is our
// shortcoming, never the program's.
type LanguageError struct {
	Language string
	Install  string // what would help; "" for a language that nothing helps
	Reason   error
}

func (e *LanguageError) Error() string {
	if e.Install == "" {
		return fmt.Sprintf("language %q is none of %s", e.Language, strings.Join(Languages(), ", "))
	}
	return fmt.Sprintf("language %q is not available here: install %s (%v)", e.Language, e.Install, e.Reason)
}

// Unwrap is the reason.
func (e *LanguageError) Unwrap() error { return e.Reason }

// Languages lists the names of the languages that the sandbox knows, whether or
// not their tool chains are here; see [Local.Toolchains].
func Languages() []string {
	var names []string
	for _, l := range lang.Table() {
		names = append(names, l.Name)
	}
	return names
}

// LanguageOf names the language of a file by its ending, "" if none is known.
func LanguageOf(file string) string { return lang.OfFile(file) }

// prepare translates a Python job for the jail.
func prepare(job *Job, limits Limits) jail.Job {
	j := jail.Job{
		Code:     []byte(job.Code),
		Stdin:    job.Stdin,
		Files:    job.Files,
		Fetch:    job.Fetch,
		Args:     job.Args,
		Prelude:  job.Prelude,
		LongInts: job.LongInts,
		Limits:   jail.Limits(limits),
	}
	if job.Call != nil {
		j.Call = &jail.Call{Class: job.Call.Class, Method: job.Call.Method, Args: job.Call.Args}
	}
	if c := job.Check; c != nil {
		j.Check = &jail.Check{Tests: c.Tests, Entry: c.Entry, Setup: c.Setup, Main: c.Main, Together: c.Together}
	}
	return j
}
