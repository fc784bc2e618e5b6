package service

import (
	"fmt"
	"regexp"
	"strings"
)

// proof makes tests print a word when they have come to their end, so that a
// program cannot pass them by leaving with status 0.
type proof struct {
	line string // a statement that prints the word; %q is the word
	// end finds where it belongs: the text behind the first group; nil is the end
	// of the tests.
	end *regexp.Regexp
	// run is text at the end of the tests that runs them, and instead what runs
	// them and goes on where they pass.
	run, instead string
}

// The ends of a main function: the last brace, or the one before that of a class.
var (
	mainEnd  = regexp.MustCompile(`(?s)^(.*\bmain\b.*)\}\s*$`)
	classEnd = regexp.MustCompile(`(?s)^(.*\b[mM]ain\b.*)\}\s*\}[\s;]*$`)
)

// proofs are how the word is printed, by language.
var proofs = map[string]proof{
	"nodejs":     {line: ";console.log(%q);\n"},
	"javascript": {line: ";console.log(%q);\n"},
	"typescript": {line: ";console.log(%q);\n"},
	"perl":       {line: ";print %q;\n"},
	"php":        {line: "\necho %q;\n"},
	"r":          {line: "\ncat(%q)\n"},
	"julia":      {line: "\nprint(%q)\n"},
	"swift":      {line: "\nprint(%q)\n"},
	"bash":       {line: "\n[ $? -eq 0 ] && printf %%s %q\n"},
	"java":       {line: ";System.out.print(%q);\n", end: classEnd},
	"csharp":     {line: ";System.Console.Write(%q);\n", end: classEnd},
	"scala":      {line: ";print(%q)\n", end: classEnd},
	"rust":       {line: ";print!(%q);\n", end: mainEnd},
	"lua": {
		line: "\nio.write(%q)\n", run: "os.exit(lu.LuaUnit.run())",
		instead: "if lu.LuaUnit.run() ~= 0 then os.exit(1) end",
	},
	"ruby": {line: "\nif defined?(Test::Unit::AutoRunner)\n" +
		"  Test::Unit::AutoRunner.need_auto_run = false\n  exit 1 unless Test::Unit::AutoRunner.run\nend\nprint %q\n"},
	"racket": {line: "\n(require (only-in rackunit/log test-log))\n(test-log #:exit? #t)\n(display %q)\n"},
}

// withProof makes tests print a word when they have come to their end; proven
// says whether there is a way.
func withProof(language, tests, word string) (with string, proven bool) {
	if tagNames("cpp", language) {
		return cppProof(tests, word)
	}
	p, known := proofs[strings.ToLower(language)]
	if !known {
		return tests, false
	}
	line := fmt.Sprintf(p.line, word)
	if p.run != "" {
		tests = strings.Replace(tests, p.run, p.instead, 1)
	}
	if p.end == nil {
		return tests + "\n" + line, true
	}
	m := p.end.FindStringSubmatchIndex(tests)
	if m == nil {
		return tests, false
	}
	return tests[:m[3]] + line + tests[m[3]:], true
}

// cppWords are what C++ tests are made of; a program must not have other ideas of
// them.
const cppWords = "assert NDEBUG if else while for do return static int long auto bool true false void puts main std candidate"

func cppProof(tests, word string) (with string, proven bool) {
	var head strings.Builder
	for name := range strings.FieldsSeq(cppWords) {
		head.WriteString("\n#undef " + name)
	}
	head.WriteString("\n#include <cassert>\n")
	const entry = "int main()"
	end := strings.LastIndexByte(tests, '}')
	if strings.Count(tests, entry) != 1 || end < 0 {
		return head.String() + tests, false
	}
	body := strings.Replace(tests[:end], entry, "static int cr_checks()", 1)
	return head.String() + body + "return 0; }\nint main() { if (cr_checks() != 0) return 1; puts(\"" + word + "\"); }\n", true
}

// topClass is a class of a Java program that is in no other.
var topClass = regexp.MustCompile(`(?m)^(?:public\s+)?((?:final\s+|abstract\s+)*class\s+(\w+))`)

// withMain gives a Java program a class Main, which is the one that is started:
// MultiPL-E's tests end a class of another name.
func withMain(source string) string {
	last := ""
	for _, m := range topClass.FindAllStringSubmatch(source, -1) {
		if last = m[2]; last == "Main" {
			return source
		}
	}
	if last == "" {
		return source
	}
	return topClass.ReplaceAllString(source, "$1") +
		"\nclass Main { public static void main(String[] args) throws Throwable { " + last + ".main(args); } }\n"
}
