package grpo

import (
	"context"
	"slices"
	"testing"

	"github.com/coderl/cr/eval/agent"
	"github.com/coderl/cr/recipes/examples"
	"github.com/coderl/cr/recipes/preset"
	"github.com/coderl/cr/runtime/chat"
	"github.com/coderl/cr/sandbox"
	"github.com/coderl/cr/sandbox/judge"
)

func newJudge(exec sandbox.Executor) *judge.Judge { return judge.New(exec) }

// scriptedEndpoint answers everything with the same program.
type scriptedEndpoint struct{}

func (scriptedEndpoint) Info() agent.Info { return agent.Info{Model: "scripted"} }

func (scriptedEndpoint) Start(context.Context, agent.Opening) (agent.Conversation, error) {
	return scriptedConversation{}, nil
}

type scriptedConversation struct{}

func (scriptedConversation) PromptTokens() int { return 3 }
func (scriptedConversation) Wait()             {}
func (scriptedConversation) Close()            {}

func (scriptedConversation) Next(context.Context, int) (agent.Turn, error) {
	return agent.Turn{
		Text: "```python\nprint(1)\n```", Tokens: 2, Finish: "stop",
		Given: []int32{7, 8, 9}, IDs: []int32{1, 2}, LogProbs: []float32{-1, -2},
	}, nil
}

func (scriptedConversation) Reply(context.Context, []chat.Message) (int, error) { return 0, nil }

// A trajectory holds what was sampled and what was given in turn; the rows of a
// micro-batch predict the sampled tokens and no other.
func TestTrajectory(t *testing.T) {
	s := &sample{question: "q", episode: agent.Episode{Turns: []agent.Turn{
		{Given: []int32{10, 11, 12}, IDs: []int32{1, 2}, LogProbs: []float32{-0.1, -0.2}},
		{Given: []int32{20, 21}, IDs: []int32{3}, LogProbs: []float32{-0.3}},
		{Given: []int32{22}}, // a budget left no room for a token
	}}}
	s.lay()
	other := &sample{question: "p", ids: []int32{5, 6}, spans: []examples.Span{{From: 1, To: 2}}, sampler: []float32{-4}}
	all := []*sample{other, s}
	list := []examples.Example{other.example(), s.example()}
	m, err := pack(all, list, []int{1, 0})
	if err != nil {
		t.Fatal(err)
	}
	if want := []int32{10, 11, 12, 1, 2, 20, 21, 3, 22, 5, 6}; !slices.Equal(m.batch.IDs, want) {
		t.Errorf("ids %v, want %v", m.batch.IDs, want)
	}
	if !slices.Equal(m.batch.Rows, []int32{2, 3, 6, 9}) || !slices.Equal(m.batch.Targets, []int32{1, 2, 3, 6}) {
		t.Errorf("rows %v predict %v", m.batch.Rows, m.batch.Targets)
	}
	if want := []place{{0, 0}, {0, 1}, {0, 2}, {1, 0}}; !slices.Equal(m.rows, want) {
		t.Errorf("rows belong to %v, want %v", m.rows, want)
	}
	m.deal([]float32{-1, -2, -3, -4}, func(s *sample) *[]float32 { return &s.old })
	if !slices.Equal(s.old, []float32{-1, -2, -3}) || !slices.Equal(other.old, []float32{-4}) {
		t.Errorf("dealt out %v and %v", s.old, other.old)
	}
}

// The policies on a truncated answer: what it is worth, and what it enters.
func TestTruncatedAnswers(t *testing.T) {
	for policy, want := range map[string]struct {
		fate  fate
		worth float64
	}{"keep": {learnt, 0.5}, "drop": {dropped, 0.5}, "mask": {masked, 0.5}, "zero": {learnt, 0}} {
		s := &sample{spans: []examples.Span{{From: 1, To: 2}}}
		s.score.Reward, s.score.Cut = 0.5, true
		s.decide("drop", policy)
		if s.fate != want.fate || s.score.Reward != want.worth {
			t.Errorf("reward.truncated %s: fate %q, worth %v", policy, s.fate, s.score.Reward)
		}
	}
	group := []*sample{{fate: masked}, {fate: dropped}, {}}
	group[0].score.Reward, group[1].score.Reward, group[2].score.Reward = 1, 2, 3
	if got := rewardsOf(group); !slices.Equal(got, []float64{1, 3}) {
		t.Errorf("rewards %v enter the mean", got)
	}
	if got := learnable(group); len(got) != 1 || got[0] != group[2] {
		t.Errorf("%d answers enter the loss", len(got))
	}
}

// Figures by numpy for log-probabilities [-0.1, -1, -2.5] as drawn and
// [-0.2, -0.9, -2.5] as trained: np.corrcoef, std with ddof=1.
func TestDrift(t *testing.T) {
	d := driftOf([]*sample{{sampler: []float32{-0.1, -1}, old: []float32{-0.2, -0.9}}, {sampler: []float32{-2.5}, old: []float32{-2.5}}})
	near := func(name string, got, want float64) {
		if diff := got - want; diff > 1e-6 || diff < -1e-6 {
			t.Errorf("%s is %v, numpy has %v", name, got, want)
		}
	}
	near("mean", d.mean, 0.06666666666666667)
	near("max", d.max, 0.1)
	near("kl", d.kl, 9.25185853854297e-18)
	near("k3", d.k3, 0.00333611203720241)
	near("mean of probabilities", d.probMean, 0.04159896117571149)
	near("max of probabilities", d.probMax, 0.0861066649579777)
	near("deviation of probabilities", d.probSD, 0.04312696401567987)
	near("correlation", d.pearson, 0.9944032967973807)
}

// Step s practises the places from s·prompts on; what resampling draws beyond
// them goes on from there, over the end of an epoch.
func TestDraw(t *testing.T) {
	r, err := preset.LoadRL("tiny-rl", []string{"rollout.prompts=4", "batch.mini=4", "train.epochs=3", "train.steps=0"})
	if err != nil {
		t.Fatal(err)
	}
	p, err := NewPlan(r, 10, 0)
	if err != nil {
		t.Fatal(err)
	}
	if p.PerEpoch != 2 || p.LeftOut != 2 || p.Schedule != 6 || p.Last != 6 {
		t.Errorf("plan %+v", p)
	}
	for step := range 4 {
		if got, want := p.draw(4*step, 4), p.order.Batch(step); !slices.Equal(got, want) {
			t.Errorf("step %d practises %v, want %v", step, got, want)
		}
	}
	if got, want := p.draw(6, 5), append(p.order.Batch(1)[2:], p.order.Batch(2)[:3]...); !slices.Equal(got, want) {
		t.Errorf("places 6 to 10 are %v, want %v", got, want)
	}
}
