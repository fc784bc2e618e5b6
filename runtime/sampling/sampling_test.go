package sampling

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
)

type golden struct {
	Draws []struct {
		Seed, Request string
		Position      int
		Uniform       float64
	}
	Filters []struct {
		Settings struct {
			Temperature, Penalty float64
			TopK                 int     `json:"top_k"`
			TopP                 float64 `json:"top_p"`
			MinP                 float64 `json:"min_p"`
		}
		Logits   []float32
		History  []int32
		Kept     map[string]float64 // probability of each token that is left
		LogProbs []float64          `json:"log_probs"`
	}
}

func readGolden(t *testing.T) golden {
	t.Helper()
	data, err := os.ReadFile("testdata/golden.json")
	if err != nil {
		t.Fatal(err)
	}
	var g golden
	if err := json.Unmarshal(data, &g); err != nil {
		t.Fatal(err)
	}
	return g
}

// Draws are numpy's Philox under the documented key and counter.
func TestDrawsAgreeWithNumpy(t *testing.T) {
	for _, d := range readGolden(t).Draws {
		seed, err := strconv.ParseUint(d.Seed, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		if got := uniform(Key(seed, d.Request), uint64(d.Position)); got != d.Uniform {
			t.Errorf("seed %s, request %q, position %d: %v, want %v", d.Seed, d.Request, d.Position, got, d.Uniform)
		}
	}
}

// What is left after all filters, and how likely, is what transformers leaves.
func TestFiltersAgreeWithTransformers(t *testing.T) {
	for i, c := range readGolden(t).Filters {
		p := Params{
			Temperature: c.Settings.Temperature, RepetitionPenalty: c.Settings.Penalty,
			TopK: c.Settings.TopK, TopP: c.Settings.TopP, MinP: c.Settings.MinP,
		}
		s := New(p, 0, "")
		s.See(c.History...)
		logits := slices.Clone(c.Logits)
		s.penalise(logits)
		r := newRow(logits, p.Temperature)
		kept := s.filter(&r)
		if len(kept) != len(c.Kept) {
			t.Errorf("case %d: %d tokens left, want %d", i, len(kept), len(c.Kept))
		}
		total := mass(kept)
		for _, k := range kept {
			if want := c.Kept[strconv.Itoa(int(k.id))]; math.Abs(k.weight/total-want) > 1e-6 {
				t.Errorf("case %d: token %d has probability %v, want %v", i, k.id, k.weight/total, want)
			}
		}
		for id, want := range c.LogProbs {
			if got := LogProb(c.Logits, int32(id), p.Temperature); math.Abs(float64(got)-want) > 1e-5 {
				t.Errorf("case %d: log-probability of %d is %v, want %v", i, id, got, want)
			}
		}
	}
}

// The cases of a penalised greedy tie and of a log-probability at T=0.5 have
// their answers from the definitions.
func TestWorkedCases(t *testing.T) {
	greedy := New(Params{RepetitionPenalty: 2}, 0, "")
	greedy.See(0, 0)
	logits := []float32{2, 1, -1}
	if id, _ := greedy.Sample(logits, 0, false); id != 0 || !slices.Equal(logits, []float32{1, 1, -1}) {
		t.Errorf("penalised greedy: token %d of %v, want 0 of [1 1 -1]", id, logits)
	}
	greedy.See(2)
	logits = []float32{2, 1, -1}
	if _, p := greedy.Sample(logits, 1, true); logits[2] != -2 || math.Abs(float64(p)+0.349012) > 1e-6 {
		t.Errorf("penalised logits %v, want [1 1 -2]; log-probability %v, want that of [2 1 -1]", logits, p)
	}
	if got := LogProb([]float32{2, 1, 0}, 0, 0.5); math.Abs(float64(got)+0.142932) > 1e-6 {
		t.Errorf("log-probability at T=0.5: %v, want -0.142932", got)
	}
}

// Over many positions, tokens come as often as their probabilities say: a
// chi-square test with a fixed seed.
func TestFrequenciesFollowProbabilities(t *testing.T) {
	logits := []float32{0, 1, 2, -1, 0.5, -30}
	for _, p := range []Params{{Temperature: 1}, {Temperature: 1, TopK: 5}, {Temperature: 1, TopP: 0.9999}} {
		s, counts := New(p, 3, "frequencies"), make([]float64, len(logits))
		const draws = 20000
		for i := range draws {
			id, _ := s.Sample(logits, i, false)
			counts[id]++
		}
		var chi float64
		for id := range logits[:5] {
			want := draws * math.Exp(float64(LogProb(logits, int32(id), 1)))
			chi += (counts[id] - want) * (counts[id] - want) / want
		}
		if chi > 18.5 || counts[5] > 0 { // 0.1 % level at 4 degrees of freedom
			t.Errorf("%+v: chi-square %.1f over counts %v", p, chi, counts)
		}
	}
}

// A large flat row forces the nucleus search to its last resort.
func TestNucleusOfFlatRow(t *testing.T) {
	logits := make([]float32, 5000)
	r := newRow(logits, 1)
	kept := New(Params{Temperature: 1, TopP: 0.5}, 0, "").filter(&r)
	if len(kept) != 2500 || kept[0].id != 0 || kept[2499].id != 2499 {
		t.Errorf("%d tokens left of 5000 equal ones, want the first 2500", len(kept))
	}
}

func TestCheckRefuses(t *testing.T) {
	for _, p := range []Params{
		{Temperature: -1},
		{Temperature: math.NaN()},
		{Temperature: math.Inf(1)},
		{TopK: -1},
		{TopP: 1.1},
		{TopP: math.NaN()},
		{MinP: -0.1},
		{RepetitionPenalty: -2},
	} {
		if p.Check() == nil {
			t.Errorf("%+v passes", p)
		}
	}
}

func BenchmarkSample(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 2))
	row := make([]float32, 151936)
	for i := range row {
		row[i] = float32(random.NormFloat64() * 3)
	}
	row[77] = 18
	for name, p := range map[string]Params{
		"greedy": {}, "temperature": {Temperature: 0.6}, "top-p": {Temperature: 0.6, TopP: 0.95},
		"top-k": {Temperature: 0.6, TopK: 20, TopP: 0.95},
	} {
		b.Run(name, func(b *testing.B) {
			s := New(p, 0, "")
			for i := range b.N {
				s.Sample(row, i, true)
			}
		})
	}
}

func TestExp(t *testing.T) {
	for x := -99.9; x <= 0; x += 0.0137 {
		if got, want := exp(x), math.Exp(x); math.Abs(got/want-1) > 1e-8 {
			t.Fatalf("exp(%v) = %v, want %v", x, got, want)
		}
	}
	if exp(0) != 1 {
		t.Errorf("exp(0) = %v", exp(0))
	}
}
