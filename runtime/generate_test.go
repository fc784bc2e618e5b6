package runtime

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coderl/cr/runtime/cpu"
	"github.com/coderl/cr/runtime/sampling"
)

// Every id of the effective list ends a generation: the request's, or else the
// checkpoint's; the end token is among the ids, its text is not.
func TestEveryEndTokenEnds(t *testing.T) {
	m := tinyModelNamed(t, "llama-group3-untied")
	run := m.Runs[1]
	prompt, greedy := run.IDs[:run.Prompt], run.IDs[run.Prompt:]
	e := openTiny(t, m, Options{})
	for _, end := range []int{0, 5, 11} {
		at := slices.Index(greedy, greedy[end])
		g := generate(t, e, prompt, Params{EOS: []int32{greedy[end], 150}, MaxTokens: 40})
		if g.Finish != FinishStop || !slices.Equal(g.IDs, greedy[:at+1]) {
			t.Errorf("ended by %q after %v, want stop after %v", g.Finish, g.IDs, greedy[:at+1])
		}
	}
	e.config.EOS = []int32{150, greedy[3]}
	at := slices.Index(greedy, greedy[3])
	if g := generate(t, e, prompt, Params{MaxTokens: 40}); len(g.IDs) != at+1 || g.Finish != FinishStop {
		t.Errorf("the checkpoint's list: %d ids, %q", len(g.IDs), g.Finish)
	}
	if g := generate(t, e, prompt, Params{MaxTokens: 40, IgnoreEOS: true}); !slices.Equal(g.IDs, greedy) || g.Finish != FinishLength {
		t.Errorf("ignoring the end: %v, %q", g.IDs, g.Finish)
	}
}

// The context's end is an ordinary end, not an error.
func TestContextOverflow(t *testing.T) {
	m := tinyModelNamed(t, "qwen3-group1-tied")
	e := openTiny(t, m, Options{})
	s, err := e.NewSequence(make([]int32, 500))
	check(t, err)
	defer s.Close()
	for _, want := range []int{12, 0} {
		g, err := s.Generate(t.Context(), Params{IgnoreEOS: true}, nil)
		check(t, err)
		if len(g.IDs) != want || g.Finish != FinishLength || s.Len() != 512 {
			t.Errorf("%d tokens, %q, length %d; want %d, length, 512", len(g.IDs), g.Finish, s.Len(), want)
		}
	}
	if _, err := e.NewSequence(make([]int32, 512)); !errors.Is(err, ErrTooLong) {
		t.Errorf("a prompt of the whole context: %v", err)
	}
}

// A cancelled generation returns at once with what it has, and frees its pages
// while the sequence is still open; the sequence can go on later.
func TestCancellation(t *testing.T) {
	m := tinyModelNamed(t, "llama-group6-tied")
	run := m.Runs[1]
	e := openTiny(t, m, Options{})
	s, err := e.NewSequence(run.IDs[:run.Prompt])
	check(t, err)
	defer s.Close()
	ctx, cancel := context.WithCancel(t.Context())
	g, err := s.Generate(ctx, Params{IgnoreEOS: true}, func(Token) { cancel() })
	if !errors.Is(err, context.Canceled) || len(g.IDs) == 0 || g.Finish != "" {
		t.Fatalf("cancelled: %d tokens, %q, %v", len(g.IDs), g.Finish, err)
	}
	e.mu.Lock()
	free := e.pool.available() == len(e.pool.pages)
	e.mu.Unlock()
	if !free {
		t.Error("pages are held after the cancellation")
	}
	more, err := s.Generate(t.Context(), Params{IgnoreEOS: true, MaxTokens: 5}, nil)
	check(t, err)
	whole := generate(t, e, run.IDs[:run.Prompt], Params{IgnoreEOS: true, MaxTokens: len(g.IDs) + 5})
	if got := append(g.IDs, more.IDs...); !slices.Equal(got, whole.IDs) {
		t.Errorf("after a cancellation %v, want %v", got, whole.IDs)
	}
}

// Closing the engine, or the sequence, ends what runs.
func TestCloseEndsGenerations(t *testing.T) {
	o, err := Options{}.withDefaults()
	check(t, err)
	e, err := openOn(cpu.New(1), tinyModelNamed(t, "qwen3-group1-tied").folder(t), o)
	check(t, err)
	first, err := e.NewSequence([]int32{1, 2})
	check(t, err)
	if _, err := first.Generate(t.Context(), Params{IgnoreEOS: true}, func(Token) { go first.Close() }); err == nil {
		t.Log("the generation was quicker than the close")
	}
	s, err := e.NewSequence([]int32{1, 2, 3})
	check(t, err)
	check(t, e.Close())
	check(t, e.Close())
	if _, err := s.Generate(t.Context(), Params{}, nil); !errors.Is(err, ErrClosed) {
		t.Errorf("generating on a closed engine: %v", err)
	}
	s.Close()
}

// A sequence that cannot fit alone is an error with sizes; one that fits in
// time waits.
func TestCacheTooSmall(t *testing.T) {
	m := tinyModelNamed(t, "qwen3-group1-tied")
	page := openTiny(t, m, Options{}).config.PageBytes()
	e := openTiny(t, m, Options{CacheBytes: 2 * page})
	s, err := e.NewSequence(make([]int32, 60))
	check(t, err)
	defer s.Close()
	g, err := s.Generate(t.Context(), Params{IgnoreEOS: true, MaxTokens: 10}, nil)
	if err == nil || !strings.Contains(err.Error(), "cache of 64 tokens") || len(g.IDs) != 5 {
		t.Errorf("%d tokens and %v, want 5 tokens and an error about 64", len(g.IDs), err)
	}
	if _, err := Open(t.Context(), m.folder(t), Options{CacheBytes: 1}); err == nil {
		t.Error("a cache of one byte opens")
	}
}

func TestRefusals(t *testing.T) {
	m := tinyModelNamed(t, "qwen3-group1-tied")
	e := openTiny(t, m, Options{})
	for _, ids := range [][]int32{nil, {-1}, {199}} {
		if _, err := e.NewSequence(ids); err == nil {
			t.Errorf("a prompt of %v opens", ids)
		}
	}
	s, err := e.NewSequence([]int32{1})
	check(t, err)
	defer s.Close()
	for _, p := range []Params{
		{Sampling: sampling.Params{Temperature: -1}}, {Stop: []string{""}}, {Stop: []string{"no tokenizer"}},
	} {
		if _, err := s.Generate(t.Context(), p, nil); err == nil {
			t.Errorf("%+v is accepted", p)
		}
	}
	if _, err := e.Score(t.Context(), make([]int32, 513)); !errors.Is(err, ErrTooLong) {
		t.Errorf("a score beyond the context: %v", err)
	}
	if scores, err := e.Score(t.Context(), []int32{4}); err != nil || len(scores) != 0 {
		t.Errorf("a score of one token: %v, %v", scores, err)
	}
}

// Tokens are handed over one by one, in order, and their texts and values add
// up to the generation.
func TestEmit(t *testing.T) {
	m := tinyModelNamed(t, "qwen3-group1-tied")
	e := openTiny(t, m, Options{})
	s, err := e.NewSequence([]int32{7})
	check(t, err)
	defer s.Close()
	var ids []int32
	var logProbs []float32
	g, err := s.Generate(t.Context(), Params{MaxTokens: 20, IgnoreEOS: true, LogProbs: true}, func(k Token) {
		ids, logProbs = append(ids, k.ID), append(logProbs, k.LogProb)
		time.Sleep(time.Microsecond)
	})
	check(t, err)
	if !slices.Equal(ids, g.IDs) || !slices.Equal(logProbs, g.LogProbs) {
		t.Errorf("emitted %v, generated %v", ids, g.IDs)
	}
}
