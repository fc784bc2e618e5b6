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
	keysInDocs(t, "<!-- keys: go test ./recipes/preset -run TestKeysInDocs -update -->\n", Fields(SFT{}))
	keysInDocs(t, "<!-- rl keys: go test ./recipes/preset -run TestKeysInDocs -update -->\n", Fields(RL{}))
}

func keysInDocs(t *testing.T, begin string, fields []Field) {
	t.Helper()
	const path, end = "../../docs/training.md", "<!-- end of keys -->"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), begin)
	have, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatalf("%s has no place for the keys", path)
	}
	want := keyTable(fields)
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

func keyTable(fields []Field) string {
	var b strings.Builder
	b.WriteString("| key | takes | default | what it is |\n| --- | --- | --- | --- |\n")
	for _, f := range fields {
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
