// Package lang knows how programs of each language are compiled and run: one
// table of data, and the finding of its tool chains on this host. It runs no
// program of anybody's; the jail does.
package lang

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// Language is one row of the table.
type Language struct {
	Name    string
	Aliases []string
	Source  string // file name of the program, below the working directory
	// Extensions are file names' endings by which users name the language.
	Extensions []string
	// Headers are the endings of a job's other files that its compiler may see;
	// the rest is there only for the run, so that one build serves all runs.
	Headers []string
	// Entry finds {entry} in a source: its first group is the space before, its
	// second the name. The last of the least indented matches counts; "Main"
	// without a match.
	Entry string
	// Chains are the tool chains that will do, best first. Without any, the
	// lanes' own Python runs the program.
	Chains []Chain
}

// Chain is a tool chain and its commands. In the commands, a first word that is
// one of Tools becomes the path of that tool, and these words are replaced:
// {entry} as above, {memory} the memory limit in MiB, {python} the interpreter,
// {prepared} the directory that Prepare filled.
type Chain struct {
	Tools   []string // all must be there
	Install string   // Debian packages, or where to get it
	Version []string // command that tells the version
	// Home is a command that prints where the tools really are (in bin/), for
	// those that are launchers outside the system's directories.
	Home []string
	// Show are patterns of paths outside the system's directories that it reads.
	Show []string
	Env  []string // NAME=VALUE, for compiler and program
	// Prepare is run once on the host, never on anybody's program, to fill
	// {prepared}, which programs can read and not write.
	Prepare []string
	// Compile leaves what Run needs in out/; nil for an interpreter. Run finds it
	// in the working directory.
	Compile []string
	Run     []string
	// Lead stands before a program's first line, in that line, so that the lines
	// keep their numbers. Programs that LeadNot matches go without.
	Lead, LeadNot string
	// CompileTime and CompileMemory bound a compilation that names no bound;
	// zero means the defaults.
	CompileTime   time.Duration
	CompileMemory int64
	// Threads is how many threads the run-time system has beside the program's.
	Threads int
	// Sparse says that it maps far more memory than it uses.
	Sparse bool
	// NoMemory are words on stderr of a failed program that was refused memory.
	NoMemory []string
	// Untested marks what the project's own tests have not run.
	Untested bool
}

// Warm says whether programs run in the lanes' interpreter itself.
func (l *Language) Warm() bool { return len(l.Chains) == 0 }

// rows is the table for Find, which every run of a program asks.
var rows = sync.OnceValue(Table)

// Find finds a language by name or alias, whatever the case; nil if there is
// none. The row is everybody's: it must not be changed.
func Find(name string) *Language {
	rows := rows()
	for i := range rows {
		same := func(known string) bool { return strings.EqualFold(name, known) }
		if same(rows[i].Name) || slices.ContainsFunc(rows[i].Aliases, same) {
			return &rows[i]
		}
	}
	return nil
}

// OfFile names the language of a file by its ending, "" if none is known.
func OfFile(name string) string {
	for _, l := range Table() {
		for _, ending := range l.Extensions {
			if strings.HasSuffix(name, ending) {
				return l.Name
			}
		}
	}
	return ""
}

// EntryOf is the {entry} of a source.
func (l *Language) EntryOf(source string) string {
	if l.Entry == "" {
		return ""
	}
	entry, indent := "Main", len(source)
	for _, m := range regexp.MustCompile(l.Entry).FindAllStringSubmatch(source, -1) {
		if len(m[1]) <= indent {
			indent, entry = len(m[1]), m[2]
		}
	}
	return entry
}

// Program is a program as the chain's tools get it.
func (c *Chain) Program(source string) string {
	if c.LeadNot != "" && regexp.MustCompile(c.LeadNot).MatchString(source) {
		return source
	}
	return c.Lead + source
}

// Sees says whether a compiler of the language may see a job's file.
func (l *Language) Sees(name string) bool {
	return slices.ContainsFunc(l.Headers, func(ending string) bool { return strings.HasSuffix(name, ending) })
}
