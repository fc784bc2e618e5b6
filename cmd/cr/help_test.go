package main

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// Every command's --help shows an example that the grammar accepts in its
// flags' names.
func TestHelpHasExamples(t *testing.T) {
	parser, err := kong.New(new(app), kong.Vars{"version": "cr"})
	if err != nil {
		t.Fatal(err)
	}
	flag := regexp.MustCompile(`--[a-z0-9-]+`)
	for _, leaf := range parser.Model.Leaves(true) {
		t.Run(leaf.Path(), func(t *testing.T) {
			args := append(strings.Fields(leaf.Path()), "--help")
			var stdout, stderr bytes.Buffer
			if code := run(t.Context(), args, &stdout, &stderr); code != exitDone || stderr.Len() > 0 {
				t.Fatalf("exit code %d: %s", code, stderr.String())
			}
			_, examples, found := strings.Cut(stdout.String(), "Example")
			examples, flags, _ := strings.Cut(examples, "Flags:")
			command := regexp.MustCompile(`\bcr ` + leaf.Path() + `\b`)
			if !found || !command.MatchString(examples) {
				t.Fatalf("no example in:\n%s", stdout.String())
			}
			for _, used := range flag.FindAllString(examples, -1) {
				if !strings.Contains(flags, used) {
					t.Errorf("the example uses %s, which is no flag", used)
				}
			}
		})
	}
}
