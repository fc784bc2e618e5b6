package examples

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/coderl/cr/datasets/sft"
	"github.com/coderl/cr/runtime/chat"
)

// made is every row of a file as an example, altered ones too.
func made(t *testing.T, m *chat.Model, o Options, file string) (all []Example, altered int) {
	t.Helper()
	maker, err := NewMaker(m, o)
	if err != nil {
		t.Fatal(err)
	}
	err = sft.Read(t.Context(), []string{file}, sft.DefaultColumns(), func(row sft.Row) error {
		e, change, err := maker.Make(row)
		if err != nil {
			t.Errorf("%v\n%s", err, row.Messages)
		}
		if change != nil {
			altered++
		}
		all = append(all, e)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all, altered
}

// mask has a 1 for each trained token.
func mask(e Example) []int32 {
	out := make([]int32, len(e.IDs))
	for _, s := range e.Trained {
		for i := s.From; i < s.To; i++ {
			out[i] = 1
		}
	}
	return out
}

func digest(numbers []int32) string {
	texts := make([]string, len(numbers))
	for i, n := range numbers {
		texts[i] = strconv.Itoa(int(n))
	}
	return fmt.Sprintf("%x", sha256.Sum256([]byte(strings.Join(texts, ","))))[:12]
}

// Ids and masks of made conversations are those of transformers' whole
// rendering; testdata/oracle.py wrote the digests.
func TestExamplesAreThoseOfTransformers(t *testing.T) {
	for name, model := range testModels() {
		t.Run(name, func(t *testing.T) {
			m, _ := model.open(t)
			data, err := os.ReadFile(filepath.Join("testdata", name+".sums"))
			if err != nil {
				t.Fatal(err)
			}
			want := strings.Split(strings.TrimSpace(string(data)), "\n")
			got, _ := made(t, m, Options{}, filepath.Join("testdata", model.rows))
			if len(got) != len(want) {
				t.Fatalf("%d examples, want %d", len(got), len(want))
			}
			for i, e := range got {
				if line := fmt.Sprintf("%d %d %s %s", len(e.IDs), e.Targets(), digest(e.IDs), digest(mask(e))); line != want[i] {
					t.Errorf("%s: %s, want %s", e.Name, line, want[i])
				}
			}
		})
	}
}

// The same, over other conversations and token by token, with the library at
// hand. CR_TEST_ROWS is how many.
func TestExamplesLive(t *testing.T) {
	if err := exec.CommandContext(t.Context(), python(), "-c", "import transformers").Run(); err != nil {
		t.Skipf("%s has no transformers (CR_TEST_PYTHON names one that does): %v", python(), err)
	}
	count := os.Getenv("CR_TEST_ROWS")
	if count == "" {
		count = "60"
	}
	for _, name := range []string{"bare", "qwen3"} { // starting the library takes seconds
		model := testModels()[name]
		t.Run(name, func(t *testing.T) {
			m, path := model.open(t)
			rows := filepath.Join(t.TempDir(), "rows.jsonl")
			if err := os.WriteFile(rows, oracle(t, "testdata/oracle.py", "rows", count, "77"), 0o600); err != nil {
				t.Fatal(err)
			}
			got, _ := made(t, m, Options{}, rows)
			dec := json.NewDecoder(bytes.NewReader(oracle(t, "testdata/oracle.py", name, path, rows, "full")))
			for _, e := range got {
				var want struct{ IDs, Mask []int32 }
				if err := dec.Decode(&want); err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(e.IDs, want.IDs) {
					t.Errorf("%s: ids\n got %v\nwant %v", e.Name, e.IDs, want.IDs)
				}
				if !slices.Equal(mask(e), want.Mask) {
					t.Errorf("%s: mask\n got %v\nwant %v\n%q", e.Name, mask(e), want.Mask, m.Decode(e.IDs, true))
				}
			}
		})
	}
}

func oracle(t *testing.T, args ...string) []byte {
	t.Helper()
	var errs bytes.Buffer
	cmd := exec.CommandContext(t.Context(), python(), args...)
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", args, err, errs.String())
	}
	return out
}
