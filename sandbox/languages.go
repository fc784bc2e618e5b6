package sandbox

import (
	"fmt"
	"strings"

	"github.com/coderl/cr/sandbox/jail"
)

// LanguageError says that programs in a language cannot run here. It is our
// shortcoming, never the program's.
type LanguageError struct {
	Language string
}

func (e *LanguageError) Error() string {
	return fmt.Sprintf("language %q is not available here; available: %s",
		e.Language, strings.Join(Languages(), ", "))
}

// language is how programs of one language run.
type language struct {
	name    string
	aliases []string
}

// languages is the table of all that can run, in the order of Languages.
var languages = [...]language{
	{name: "python", aliases: []string{"python3", "py"}},
}

// Languages lists the names of the languages that can run.
func Languages() []string {
	names := make([]string, len(languages))
	for i := range languages {
		names[i] = languages[i].name
	}
	return names
}

// lookUp finds a language by name or alias, whatever the case.
func lookUp(name string) (*language, error) {
	for i := range languages {
		l := &languages[i]
		for _, known := range append([]string{l.name}, l.aliases...) {
			if strings.EqualFold(name, known) {
				return l, nil
			}
		}
	}
	return nil, &LanguageError{Language: name}
}

// prepare translates a job for the jail.
func (*language) prepare(job *Job, limits Limits) jail.Job {
	j := jail.Job{
		Code:    []byte(job.Code),
		Stdin:   job.Stdin,
		Files:   job.Files,
		Fetch:   job.Fetch,
		Args:    job.Args,
		Prelude: job.Prelude,
		Limits:  jail.Limits(limits),
	}
	if job.Call != nil {
		j.Call = &jail.Call{Class: job.Call.Class, Method: job.Call.Method, Args: job.Call.Args}
	}
	return j
}
