package runtime

import (
	"encoding/json"
	"os"
	"sync"
	"testing"
)

// testModel is SmolLM2-135M-Instruct's GGUF, or skips: it is not in the
// repository.
func testModel(t testing.TB) string {
	t.Helper()
	path := os.Getenv("CR_TEST_MODEL")
	if path == "" {
		t.Skip("CR_TEST_MODEL names no SmolLM2-135M-Instruct.Q4_1.gguf")
	}
	return path
}

// Greedy tokens on SmolLM2's GGUF are those of transformers on the dequantised
// weights, up to where the two best logits are within 1e-2 for the first time.
func TestSmolLM2AgreesWithTransformers(t *testing.T) {
	const closeCall = 1e-2
	path := testModel(t)
	data, err := os.ReadFile("testdata/golden_smollm2.json")
	check(t, err)
	var runs []struct {
		Prompt, Tokens []int32
		Gaps           []float64
	}
	check(t, json.Unmarshal(data, &runs))
	e, err := Open(t.Context(), path, Options{})
	check(t, err)
	defer func() { check(t, e.Close()) }()

	var wait sync.WaitGroup
	results := make([]Generation, len(runs))
	for i, run := range runs {
		wait.Go(func() {
			s, err := e.NewSequence(run.Prompt)
			if err != nil {
				t.Error(err)
				return
			}
			defer s.Close()
			results[i], err = s.Generate(t.Context(), Params{MaxTokens: len(run.Tokens), IgnoreEOS: true}, nil)
			if err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	compared := 0
	for i, run := range runs {
		for j, want := range run.Tokens {
			if j >= len(results[i].IDs) {
				t.Fatalf("prompt %d: %d tokens, want %d", i, len(results[i].IDs), len(run.Tokens))
			}
			got := results[i].IDs[j]
			if got != want && run.Gaps[j] > closeCall {
				t.Errorf("prompt %d, token %d: %d, want %d (gap %v)", i, j, got, want, run.Gaps[j])
			}
			if got != want {
				break // from here on the contexts differ
			}
			compared++
		}
	}
	t.Logf("%d of %d tokens equal", compared, len(runs)*len(runs[0].Tokens))
	s := e.Stats()
	t.Logf("prefill %.1f tokens/s, decode %.1f tokens/s", float64(s.PrefillTokens)/s.PrefillSeconds, float64(s.DecodeTokens)/s.DecodeSeconds)
}

// On real sizes and quantised weights, too, company, chunks and threads change
// nothing.
func TestSmolLM2BitEqual(t *testing.T) {
	path := testModel(t)
	list := dialogues(49152)[3:]
	var want []outcome
	for i, o := range []Options{
		{Threads: 1, MaxBatch: 1, PrefillChunk: 512},
		{Threads: 2},
		{Threads: 3, PrefillChunk: 37, CacheBytes: 24 << 20},
	} {
		e, err := Open(t.Context(), path, o)
		check(t, err)
		got := together(t, e, list)
		if i == 0 {
			want = got
		}
		compareOutcomes(t, got, want)
		checkAllFree(t, e)
		check(t, e.Close())
	}
}
