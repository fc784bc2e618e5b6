package preset

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the table of keys into docs/training.md")

// The table of keys in the documentation is the schema.
func TestKeysInDocs(t *testing.T) {
	const path, begin, end = "../../docs/training.md", "TestKeysInDocs -update -->\n", "<!-- end of keys -->"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), begin)
	have, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatalf("%s has no place for the keys", path)
	}
	want := keyTable()
	if have == want {
		return
	}
	if !*update {
		t.Fatalf("%s has other keys than the schema: run go test ./recipes/preset -run TestKeysInDocs -update", path)
	}
	if err := os.WriteFile(path, []byte(before+begin+want+end+after), 0o644); err != nil {
		t.Fatal(err)
	}
}

func keyTable() string {
	var b strings.Builder
	b.WriteString("| key | takes | default | what it is |\n| --- | --- | --- | --- |\n")
	for _, f := range Fields(SFT{}) {
		takes := f.Allowed
		if f.Type != "text" || takes == "" {
			takes = strings.TrimSuffix(f.Type+", "+f.Allowed, ", ")
		}
		value := f.Default
		if value != "" {
			value = "`" + value + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", f.Key, takes, value, f.Doc)
	}
	return b.String()
}
