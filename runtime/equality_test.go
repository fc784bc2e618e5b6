package runtime

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/coderl/cr/runtime/sampling"
)

// dialogue is a prompt, a sampled turn, a tool's reply after a wait, and a
// second turn.
type dialogue struct {
	prompt, reply []int32
	request       string
}

// outcome is every number that a dialogue yields.
type outcome struct {
	ids      []int32
	logProbs []float32
}

// dialogues have prompts around the page size, three of them with one prefix
// and two the same prompt.
func dialogues(vocab int32) []dialogue {
	tokens := func(seed uint64, n int) []int32 {
		ids := make([]int32, n)
		for i := range ids {
			ids[i] = int32(splitmix(seed<<32+uint64(i)) % uint64(vocab))
		}
		return ids
	}
	common := tokens(9, 96)
	prompts := [][]int32{
		tokens(1, 1), tokens(2, 31), tokens(3, 32), tokens(4, 33),
		common, common, append(slices.Clone(common[:70]), tokens(5, 30)...),
	}
	var list []dialogue
	for i, p := range prompts {
		list = append(list, dialogue{prompt: p, reply: tokens(uint64(20+i), 5+9*i), request: fmt.Sprint(i)})
	}
	return list
}

func (d dialogue) run(t *testing.T, e *Engine) (o outcome) {
	s, err := e.NewSequence(d.prompt)
	if err != nil {
		t.Error(err)
		return o
	}
	defer s.Close()
	p := Params{
		Sampling:  sampling.Params{Temperature: 0.9, TopP: 0.95, RepetitionPenalty: 1.1},
		MaxTokens: 40, IgnoreEOS: true, Seed: 5, Request: d.request, LogProbs: true,
	}
	for _, forced := range [][]int32{d.reply, nil} {
		g, err := s.Generate(t.Context(), p, nil)
		if err != nil {
			t.Error(err)
			return o
		}
		o.ids, o.logProbs = append(o.ids, g.IDs...), append(o.logProbs, g.LogProbs...)
		s.Wait()
		if err := s.Append(forced); err != nil {
			t.Error(err)
		}
	}
	return o
}

// together runs all dialogues at once.
func together(t *testing.T, e *Engine, list []dialogue) []outcome {
	t.Helper()
	outcomes := make([]outcome, len(list))
	var wait sync.WaitGroup
	for i, d := range list {
		wait.Go(func() { outcomes[i] = d.run(t, e) })
	}
	wait.Wait()
	return outcomes
}

func compareOutcomes(t *testing.T, got, want []outcome) {
	t.Helper()
	for i := range want {
		if !slices.Equal(got[i].ids, want[i].ids) {
			t.Errorf("dialogue %d: tokens differ:\n%v\n%v", i, got[i].ids, want[i].ids)
		} else if !slices.Equal(got[i].logProbs, want[i].logProbs) {
			t.Errorf("dialogue %d: log-probabilities are not bit-equal", i)
		}
	}
}

// alone runs each dialogue in an engine of its own.
func alone(t *testing.T, m tinyModel, list []dialogue) []outcome {
	t.Helper()
	var outcomes []outcome
	for _, d := range list {
		outcomes = append(outcomes, d.run(t, openTiny(t, m, Options{Threads: 1})))
	}
	return outcomes
}

// Whatever runs beside a sequence, and however its work is cut up, its tokens
// and log-probabilities are equal to the bit.
func TestBitEqualWhateverTheCompany(t *testing.T) {
	for _, name := range []string{"qwen3-group2-bf16", "llama-group7-llama3"} {
		m := tinyModelNamed(t, name)
		list := dialogues(97)
		want := alone(t, m, list)
		page := openTiny(t, m, Options{}).config.PageBytes()
		for variant, o := range map[string]Options{
			"all together":             {Threads: 1},
			"chunks of 1":              {PrefillChunk: 1},
			"chunks of 7":              {PrefillChunk: 7, Threads: 2},
			"chunks of 33":             {PrefillChunk: 33, Threads: 3},
			"chunks of 64, batch of 2": {PrefillChunk: 64, MaxBatch: 2},
			"one at a time":            {MaxBatch: 1},
			"evicted and preempted":    {CacheBytes: 9 * page},
			"hardly any room":          {CacheBytes: 8 * page, PrefillChunk: 40, Threads: 2},
		} {
			t.Run(name+"/"+variant, func(t *testing.T) {
				e := openTiny(t, m, o)
				compareOutcomes(t, together(t, e, list), want)
				if s := e.Stats(); o.CacheBytes > 0 && s.Preemptions == 0 {
					t.Errorf("nothing was preempted: %+v", s)
				}
				checkAllFree(t, e)
			})
		}
	}
}

// A prefill of n tokens and n single steps give the same logits: a score of
// what was sampled is what the sampler saw.
func TestScoreEqualsDecode(t *testing.T) {
	m := tinyModelNamed(t, "qwen3-group1-tied")
	e := openTiny(t, m, Options{})
	prompt := m.Runs[1].IDs[:37]
	g := generate(t, e, prompt, Params{MaxTokens: 60, IgnoreEOS: true, LogProbs: true})
	for range 2 { // the second time with the prefix in the cache
		scores, err := e.Score(t.Context(), append(slices.Clone(prompt), g.IDs...))
		check(t, err)
		if !slices.Equal(scores[len(prompt)-1:], g.LogProbs) {
			t.Errorf("scores differ from the sampler's log-probabilities")
		}
	}
}

// Samples of one prompt, opened at the same time, compute its full pages once.
func TestSharedPromptIsComputedOnce(t *testing.T) {
	const samples, length = 4, 161
	m := tinyModelNamed(t, "llama-group6-tied")
	e := openTiny(t, m, Options{PrefillChunk: 64})
	prompt := m.Runs[2].IDs[:length]
	var wait sync.WaitGroup
	for i := range samples {
		wait.Go(func() {
			s, err := e.NewSequence(prompt)
			if err != nil {
				t.Error(err)
				return
			}
			defer s.Close()
			p := Params{Sampling: sampling.Params{Temperature: 1}, MaxTokens: 10, IgnoreEOS: true, Request: fmt.Sprint(i)}
			if _, err := s.Generate(t.Context(), p, nil); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	// 161 tokens are five full pages and one token, which each sample computes.
	if got, want := e.Stats().PrefillTokens, int64(160+samples); got != want {
		t.Errorf("%d prompt tokens computed, want %d", got, want)
	}
	checkAllFree(t, e)
}

// Equal page contents behind different beginnings are different pages: keys
// and values depend on all that came before.
func TestSamePageBehindAnotherPrefix(t *testing.T) {
	m := tinyModelNamed(t, "llama-group3-untied")
	first, second := m.Runs[2].IDs[:32], m.Runs[2].IDs[32:64]
	var list []dialogue
	for _, pages := range [][][]int32{{first, second}, {second}, {second, second}, {second, first}, {first, first, second}} {
		list = append(list, dialogue{prompt: append(slices.Concat(pages...), 1)})
	}
	want := alone(t, m, list)
	e := openTiny(t, m, Options{})
	for range 2 { // the second time from the cache
		for i, d := range list {
			compareOutcomes(t, []outcome{d.run(t, e)}, want[i:i+1])
		}
	}
}

// checkAllFree verifies that no page is held once all sequences are closed.
func checkAllFree(t *testing.T, e *Engine) {
	t.Helper()
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.pool.available() != len(e.pool.pages) || len(e.sequences) != 0 {
		t.Errorf("%d of %d pages free, %d sequences open", e.pool.available(), len(e.pool.pages), len(e.sequences))
	}
}
