// Package calls writes a call of one function as a program, for the languages
// whose functions the sandbox does not call itself.
//
// The program reads its arguments from a file at run time, so that one build
// serves all calls, and leaves the value as JSON in another file. A program that
// writes that file itself gains nothing: the value is judged outside, and whoever
// knows the right one may as well return it.
package calls

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"text/template"
)

// The files of a call, in the working directory.
const (
	ArgsFile  = "cr_args.json"
	ValueFile = "cr_value.json"
)

//go:embed harness
var harnesses embed.FS

// names maps the names of languages to their harnesses.
var names = map[string]string{
	"javascript": "javascript", "nodejs": "javascript", "node": "javascript", "js": "javascript",
	"typescript": "typescript", "ts": "typescript",
	"go": "go", "golang": "go", "java": "java", "rust": "rust", "rs": "rust",
	"cpp": "cpp", "c++": "cpp", "cxx": "cpp", "cc": "cpp",
	"bash": "bash", "sh": "bash", "shell": "bash",
	"php": "php", "ruby": "ruby", "rb": "ruby", "perl": "perl", "pl": "perl", "lua": "lua",
}

// ErrLanguage is returned for languages without a harness.
var ErrLanguage = errors.New("calls are not made in this language")

// identifier is a name that may be put into source code.
var identifier = regexp.MustCompile(`^[A-Za-z_]\w*$`)

// Call is a call of one function.
type Call struct {
	Language string
	Code     string // the program that defines the function
	Name     string
	Args     []json.RawMessage
}

// Program is a call as a program.
type Program struct {
	Code  string
	Args  []string          // command-line arguments
	Files map[string][]byte // of the working directory
}

// Weak says that a language writes numbers and texts alike: a value that is text
// stands for the number it spells.
func Weak(language string) bool {
	name := names[strings.ToLower(language)]
	return name == "bash" || name == "perl"
}

// Write turns a call into a program.
func Write(c Call) (Program, error) {
	name, ok := names[strings.ToLower(c.Language)]
	switch {
	case !ok:
		return Program{}, fmt.Errorf("%s: %w", c.Language, ErrLanguage)
	case !identifier.MatchString(c.Name):
		return Program{}, fmt.Errorf("%.40q is no name of a function", c.Name)
	}
	harness, err := template.New(name).Delims("{%", "%}").ParseFS(harnesses, "harness/"+name)
	if err != nil {
		return Program{}, fmt.Errorf("harness for %s: %w", name, err)
	}
	code, class := prepare(name, c.Code)
	var tail strings.Builder
	indexes := make([]int, len(c.Args))
	for i := range indexes {
		indexes[i] = i
	}
	err = harness.Execute(&tail, map[string]any{
		"Name": c.Name, "Class": class, "Indexes": indexes, "Literals": luaLiterals(name, c.Args),
	})
	if err != nil {
		return Program{}, fmt.Errorf("harness for %s: %w", name, err)
	}
	texts := make([]string, len(c.Args))
	for i, arg := range c.Args {
		texts[i] = string(arg)
	}
	p := Program{
		Code:  code + tail.String(),
		Files: map[string][]byte{ArgsFile: []byte("[" + strings.Join(texts, ", ") + "]")},
	}
	if name == "bash" {
		p.Args = words(c.Args)
	}
	return p, nil
}

// words are arguments as a shell has them: texts without quotes.
func words(args []json.RawMessage) []string {
	list := make([]string, len(args))
	for i, arg := range args {
		list[i] = string(arg)
		var s string
		if json.Unmarshal(arg, &s) == nil {
			list[i] = s
		}
	}
	return list
}
