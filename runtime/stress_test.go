package runtime

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/coderl/cr/runtime/sampling"
)

// Random company in a cache that is too small for it: prompts that share
// prefixes, waits, cancellations and scores. Every sequence still yields what
// it yields alone, and no page is lost.
func TestRandomCompany(t *testing.T) {
	const workers, rounds = 8, 6
	m := tinyModelNamed(t, "qwen3-group1-tied")
	quiet := openTiny(t, m, Options{MaxBatch: 1, Threads: 1})
	page := quiet.config.PageBytes()
	busy := openTiny(t, m, Options{CacheBytes: 10 * page, PrefillChunk: 48, MaxBatch: 5, Threads: 2})
	var wait sync.WaitGroup
	for w := range workers {
		wait.Go(func() {
			random := rand.New(rand.NewPCG(uint64(w), 11))
			for round := range rounds {
				prompt := randomPrompt(random)
				p := Params{
					Sampling:  sampling.Params{Temperature: 1, TopK: 20},
					MaxTokens: 1 + random.IntN(50), IgnoreEOS: true, LogProbs: true, Request: fmt.Sprint(w, round),
				}
				if err := sameInCompany(t.Context(), quiet, busy, prompt, p, random); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wait.Wait()
	checkAllFree(t, busy)
	if s := busy.Stats(); s.Preemptions == 0 {
		t.Errorf("nothing was preempted: %+v", s)
	}
}

// randomPrompt is made of whole and partial repeats of a few fixed stretches,
// so that prefixes meet.
func randomPrompt(random *rand.Rand) []int32 {
	var ids []int32
	for range 1 + random.IntN(3) {
		stretch := uint64(random.IntN(2))
		for i := range uint64(1 + random.IntN(60)) {
			ids = append(ids, int32(splitmix(stretch<<8+i)%199))
		}
	}
	return ids
}

// sameInCompany runs one sequence in both engines, in busy with a random
// mishap, and compares.
func sameInCompany(ctx context.Context, quiet, busy *Engine, prompt []int32, p Params, random *rand.Rand) error {
	want, err := runTurns(ctx, quiet, prompt, p, nil)
	if err != nil {
		return err
	}
	got, err := runTurns(ctx, busy, prompt, p, random)
	if err != nil {
		return err
	}
	if !slices.Equal(got.IDs, want.IDs) || !slices.Equal(got.LogProbs, want.LogProbs) {
		return fmt.Errorf("request %s: %v, alone %v", p.Request, got.IDs, want.IDs)
	}
	scores, err := busy.Score(ctx, prompt)
	if err != nil {
		return err
	}
	alone, err := quiet.Score(ctx, prompt)
	if err == nil && !slices.Equal(scores, alone) {
		err = fmt.Errorf("request %s: scores differ", p.Request)
	}
	return err
}

// runTurns generates two turns; with random, a cancelled attempt or a wait may
// come between, which changes nothing that follows.
func runTurns(ctx context.Context, e *Engine, prompt []int32, p Params, random *rand.Rand) (Generation, error) {
	s, err := e.NewSequence(prompt)
	if err != nil {
		return Generation{}, err
	}
	defer s.Close()
	first, err := s.generateMaybeCut(ctx, p, random)
	if err != nil {
		return first, err
	}
	if random != nil && random.IntN(2) == 0 {
		s.Wait()
	}
	if err := s.Append([]int32{1, 2, 3}); err != nil {
		return first, err
	}
	second, err := s.Generate(ctx, p, nil)
	first.IDs, first.LogProbs = append(first.IDs, second.IDs...), append(first.LogProbs, second.LogProbs...)
	return first, err
}

// generateMaybeCut generates p.MaxTokens tokens, in two goes if it happens to
// be cancelled on the way.
func (s *Sequence) generateMaybeCut(ctx context.Context, p Params, random *rand.Rand) (Generation, error) {
	if random == nil || random.IntN(2) == 0 {
		return s.Generate(ctx, p, nil)
	}
	cut, cancel := context.WithCancel(ctx)
	defer cancel()
	left := random.IntN(p.MaxTokens)
	g, err := s.Generate(cut, p, func(Token) {
		if left--; left <= 0 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) || len(g.IDs) == p.MaxTokens {
		return g, err
	}
	p.MaxTokens -= len(g.IDs)
	rest, err := s.Generate(ctx, p, nil)
	g.IDs, g.LogProbs = append(g.IDs, rest.IDs...), append(g.LogProbs, rest.LogProbs...)
	return g, err
}
