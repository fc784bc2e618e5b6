package tinytasks

import (
	"slices"
	"strings"
)

// Recipe is a composition of clauses: what is read, the steps, the end.
type Recipe struct {
	Functional bool // a method of class Solution instead of stdin and stdout
	Reads      kind
	Steps      []Clause
	Finish     *finish
	meant      *finish // what a wrong program misread, and still says
}

// Depth is the number of steps between reading and the end.
func (r Recipe) Depth() int { return len(r.Steps) }

// Composition names the clauses without their parameters; splits are made by it.
func (r Recipe) Composition() string {
	names := []string{"numbers"}
	if r.Reads == words {
		names[0] = "words"
	}
	for _, c := range r.Steps {
		names = append(names, c.step.name)
	}
	return strings.Join(append(names, r.Finish.name), " ")
}

// kindAt is the kind of the list after the first n steps.
func (r Recipe) kindAt(n int) kind {
	k := r.Reads
	for _, c := range r.Steps[:n] {
		if c.step.gives != anything {
			k = c.step.gives
		}
	}
	return k
}

// valid reports whether every clause gets a list of its kind.
func (r Recipe) valid() bool {
	for i, c := range r.Steps {
		if c.step.takes != anything && c.step.takes != r.kindAt(i) {
			return false
		}
	}
	return r.Finish.takes == anything || r.Finish.takes == r.kindAt(len(r.Steps))
}

// run is the answer on an input. ok is false if a value on the way is beyond
// what tasks may have, or has an empty word, which a line does not show.
func (r Recipe) run(l list, most int) (a answer, ok bool) {
	for _, c := range r.Steps {
		l = c.step.do(l, c.args)
		if !l.tame(most) {
			return a, false
		}
	}
	a = r.Finish.do(l)
	return a, abs(a.num) <= most
}

// tame reports whether no number is beyond most, no word empty or very long.
func (l list) tame(most int) bool {
	const longest, length = 24, 12
	return l.len() <= longest &&
		!slices.ContainsFunc(l.nums, func(x int) bool { return abs(x) > most }) &&
		!slices.ContainsFunc(l.words, func(w string) bool { return w == "" || len(w) > length })
}

// sentences are the statement's lines before the sample: what is read, the
// steps, the end.
func (r Recipe) sentences() []string {
	of := map[kind]string{numbers: "numbers", words: "words"}[r.Reads]
	first, verb := "Read a line of "+of+".", "Print "
	if r.Functional {
		first, verb = "Given a list of "+of+".", "Return "
	}
	lines := []string{first}
	for _, c := range r.Steps {
		lines = append(lines, c.Say())
	}
	end := r.Finish
	if r.meant != nil {
		end = r.meant
	}
	return append(lines, verb+end.say)
}

// commented is a program's body: each statement below the sentence it stands
// for. The sentences keep a writer of programs on its way: the next one to write
// is the one that follows, in the task, the one it wrote last. read is the
// statement for the first; "" for none.
func (r Recipe) commented(read, end string) []string {
	said := r.sentences()
	lines := []string{"# " + said[0]}
	if read != "" {
		lines = append(lines, read)
	}
	for i, c := range r.Steps {
		lines = append(lines, "# "+said[i+1], "a = "+c.expression())
	}
	return append(lines, "# "+said[len(said)-1], end)
}

// Program is the answer to the task.
func (r Recipe) Program() string {
	if r.Functional {
		return r.class()
	}
	return r.script("input()")
}

// Draft is the program as it is tried on a sample: with the sample in place of
// the input.
func (r Recipe) Draft(sample Test) string {
	if r.Functional {
		return r.class() + "\nprint(Solution()." + Method + "(" + sample.list.literal() + "))"
	}
	return r.script("'" + sample.list.line() + "'")
}

// script is a program that takes its line from the given expression.
func (r Recipe) script(line string) string {
	read := "a = " + line + ".split()"
	if r.Reads == numbers {
		read = "a = list(map(int, " + line + ".split()))"
	}
	end := "print(" + r.Finish.code + ")"
	if r.Finish.code == "" {
		end = "print(*a)"
	}
	return strings.Join(r.commented(read, end), "\n")
}

func (r Recipe) class() string {
	end := "return " + r.Finish.code
	if r.Finish.code == "" {
		end = "return a"
	}
	const indent = "\n        "
	return r.header() + indent + strings.Join(r.commented("", end), indent)
}

// header is the class with the method's first line.
func (r Recipe) header() string {
	of := "int"
	if r.Reads == words {
		of = "str"
	}
	gives := r.Finish.do(list{kind: r.kindAt(len(r.Steps))}).annotation(r.kindAt(len(r.Steps)))
	return "class Solution:\n    def " + Method + "(self, a: List[" + of + "]) -> " + gives + ":"
}

// starter is the starter code of a functional task, as LiveCodeBench has it:
// the method's body is left open.
func (r Recipe) starter() string {
	if !r.Functional {
		return ""
	}
	return r.header() + "\n        "
}

// statement is the task's text with its sample.
func (r Recipe) statement(sample Test) string {
	input := sample.list.line()
	if r.Functional {
		input = sample.list.literal()
	}
	return strings.Join(append(r.sentences(), "", "Input:", input, "Output:", sample.shown), "\n")
}
