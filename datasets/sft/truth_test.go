package sft

import (
	"path/filepath"
	"testing"

	"github.com/parquet-go/parquet-go"
)

type scalarMessage[T any] struct {
	Role    string `parquet:"role"`
	Content string `parquet:"content"`
	Calls   *T     `parquet:"tool_calls,optional"`
}

type scalarRow[T any] struct {
	Messages []scalarMessage[T] `parquet:"messages,list"`
}

// keptOf says whether a conversation whose first message has these tool calls
// is kept.
func keptOf[T any](t *testing.T, calls *T) bool {
	t.Helper()
	in, out := filepath.Join(t.TempDir(), "in.parquet"), filepath.Join(t.TempDir(), "out.parquet")
	row := scalarRow[T]{[]scalarMessage[T]{
		{Role: "assistant", Content: "go", Calls: calls},
		{Role: "tool", Content: "r"},
		{Role: "assistant", Content: "```python\nx\n```"},
	}}
	if err := parquet.WriteFile(in, []scalarRow[T]{row}); err != nil {
		t.Fatal(err)
	}
	summary, err := Filter(t.Context(), []string{in}, out, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return summary.Kept == 1
}

// Tool calls of any type count as Python's bool of them does.
func TestTruthOfScalarCalls(t *testing.T) {
	for name, got := range map[string][2]bool{
		"True":  {keptOf(t, new(true)), true},
		"False": {keptOf(t, new(false)), false},
		"1":     {keptOf(t, new(int64(1))), true},
		"0":     {keptOf(t, new(int64(0))), false},
		"int32": {keptOf(t, new(int32(0))), false},
		"0.0":   {keptOf(t, new(0.0)), false},
		"0.5":   {keptOf(t, new(0.5)), true},
		"float": {keptOf(t, new(float32(0))), false},
		"text":  {keptOf(t, new("[]")), true},
		"empty": {keptOf(t, new("")), false},
		"null":  {keptOf[int64](t, nil), false},
	} {
		if got[0] != got[1] {
			t.Errorf("%s: kept %v, want %v", name, got[0], got[1])
		}
	}
}
