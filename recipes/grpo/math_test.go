package grpo

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"testing"
)

var update = flag.Bool("update", false, "write the cases and the goldens anew, by verl's core_algos (CR_TEST_VERL_PYTHON)")

const (
	casesFile  = "testdata/core_algos.cases.jsonl"
	goldenFile = "testdata/core_algos.golden.jsonl"
)

// mathCase is an input of testdata/core_algos.py.
type mathCase struct {
	Kind    string    `json:"kind"` // advantages, loss
	Rewards []float64 `json:"rewards,omitempty"`
	Group   []int     `json:"group,omitempty"`
	ByStd   bool      `json:"by_std"`

	Aggregate string      `json:"aggregate,omitempty"`
	KLType    string      `json:"kl_type,omitempty"`
	ClipLow   float64     `json:"clip_low"`
	ClipHigh  float64     `json:"clip_high"`
	DualClip  float64     `json:"dual_clip"`
	KLCoef    float64     `json:"kl_coef"`
	EntCoef   float64     `json:"entropy_coef"`
	Advantage []float64   `json:"advantage,omitempty"` // of each sequence
	LogP      [][]float64 `json:"logp,omitempty"`
	Old       [][]float64 `json:"old,omitempty"`
	Reference [][]float64 `json:"reference,omitempty"`
	Entropy   [][]float64 `json:"entropy,omitempty"`
	Mask      [][]float64 `json:"mask,omitempty"`
}

// mathAnswer is what the script answers.
type mathAnswer struct {
	Advantages    []float64   `json:"advantages,omitempty"`
	Loss          float64     `json:"loss"`
	PG            float64     `json:"pg"`
	KL            float64     `json:"kl"`
	Entropy       float64     `json:"entropy"`
	DLogP         [][]float64 `json:"dlogp,omitempty"`
	DEntropy      [][]float64 `json:"dentropy,omitempty"`
	ClipFrac      float64     `json:"clipfrac"`
	PPOKL         float64     `json:"ppo_kl"`
	ClipFracLower float64     `json:"clipfrac_lower"`
}

// mathCases are random inputs over all options, some far beyond the clamps.
func mathCases(seed uint64) []mathCase {
	rng := rand.New(rand.NewPCG(seed, 0))
	var all []mathCase
	for i := range 8 {
		c := mathCase{Kind: "advantages", ByStd: i%2 == 0}
		for g := range 4 {
			for range 1 + rng.IntN(5) {
				c.Rewards = append(c.Rewards, float64(rng.IntN(5))/4)
				c.Group = append(c.Group, g)
			}
		}
		all = append(all, c)
	}
	for _, aggregate := range []string{"token-mean", "seq-mean-token-sum", "seq-mean-token-mean", "seq-mean-token-sum-norm"} {
		for _, kl := range []string{"kl", "abs", "mse", "low_var_kl", "kl+", "abs+", "low_var_kl+"} {
			all = append(all, lossCase(rng, aggregate, kl))
		}
	}
	return all
}

func lossCase(rng *rand.Rand, aggregate, kl string) mathCase {
	const sequences, tokens = 4, 6
	c := mathCase{
		Kind: "loss", Aggregate: aggregate, KLType: kl, ClipLow: 0.2, ClipHigh: 0.28, DualClip: 3,
		KLCoef: 0.1 * rng.Float64(), EntCoef: 0.1 * rng.Float64(),
	}
	for s := range sequences {
		c.Advantage = append(c.Advantage, rng.NormFloat64())
		row := func(of func() float64) []float64 {
			values := make([]float64, tokens)
			for i := range values {
				values[i] = math.Round(of()*1e4) / 1e4
			}
			return values
		}
		logp := row(func() float64 { return -3 * rng.ExpFloat64() })
		near := func(scale float64) []float64 {
			values := row(func() float64 { return scale * rng.NormFloat64() })
			for i := range values {
				if rng.IntN(8) == 0 {
					values[i] *= 80
				}
				values[i] += logp[i]
			}
			return values
		}
		c.LogP, c.Old, c.Reference = append(c.LogP, logp), append(c.Old, near(0.4)), append(c.Reference, near(0.8))
		c.Entropy = append(c.Entropy, row(rng.ExpFloat64))
		mask := row(func() float64 { return float64(min(1, rng.IntN(4))) })
		if s == sequences-1 {
			clear(mask) // a sequence without loss tokens
		}
		c.Mask = append(c.Mask, mask)
	}
	return c
}

// answer computes a case here.
func (c mathCase) answer() mathAnswer {
	if c.Kind == "advantages" {
		return mathAnswer{Advantages: Advantages(c.Rewards, c.Group, c.ByStd)}
	}
	o := Objective{ClipLow: c.ClipLow, ClipHigh: c.ClipHigh, DualClip: c.DualClip, KLCoef: c.KLCoef, KLType: c.KLType, Entropy: c.EntCoef}
	lengths := make([]int, len(c.Mask))
	total := 0.0
	for s, mask := range c.Mask {
		for _, m := range mask {
			lengths[s] += int(m)
			total += m
		}
	}
	var a mathAnswer
	weights := Weights(c.Aggregate, lengths, len(c.Mask[0]))
	for s, mask := range c.Mask {
		dlogp, dentropy := make([]float64, len(mask)), make([]float64, len(mask))
		for i, m := range mask {
			if m == 0 {
				continue
			}
			t := o.At(Token{LogP: c.LogP[s][i], Old: c.Old[s][i], Reference: c.Reference[s][i], Entropy: c.Entropy[s][i], Advantage: c.Advantage[s]})
			a.Loss += weights[s] * t.Loss
			a.PG += weights[s] * t.PG
			a.KL += weights[s] * t.KL
			a.Entropy += weights[s] * c.Entropy[s][i]
			a.PPOKL += t.NegativeLogRatio / total
			if t.Clipped {
				a.ClipFrac += 1 / total
			}
			if t.DualClip {
				a.ClipFracLower += 1 / total
			}
			dlogp[i], dentropy[i] = weights[s]*t.DLogP, weights[s]*t.DEntropy
		}
		a.DLogP, a.DEntropy = append(a.DLogP, dlogp), append(a.DEntropy, dentropy)
	}
	return a
}

// TestMathIsVerls holds advantages, losses, divergences and all gradients to
// verl's core_algos (0.9.1) and torch.autograd.
func TestMathIsVerls(t *testing.T) {
	if *update {
		cases := mathCases(7)
		write(t, casesFile, lines(t, cases))
		write(t, goldenFile, askVerl(t, cases))
	}
	cases := parseLines[mathCase](t, read(t, casesFile))
	compareMath(t, cases, parseLines[mathAnswer](t, read(t, goldenFile)))
}

// TestMathIsVerlsOnFreshInputs asks an installed verl.
func TestMathIsVerlsOnFreshInputs(t *testing.T) {
	cases := mathCases(rand.Uint64())
	compareMath(t, cases, parseLines[mathAnswer](t, askVerl(t, cases)))
}

func compareMath(t *testing.T, cases []mathCase, golden []mathAnswer) {
	t.Helper()
	if len(cases) != len(golden) {
		t.Fatalf("%d cases, %d answers", len(cases), len(golden))
	}
	for i, c := range cases {
		got, want := c.answer(), golden[i]
		name := fmt.Sprintf("case %d (%s %s %s)", i, c.Kind, c.Aggregate, c.KLType)
		near(t, name+" advantages", got.Advantages, want.Advantages)
		near(t, name+" losses", []float64{got.Loss, got.PG, got.KL, got.Entropy}, []float64{want.Loss, want.PG, want.KL, want.Entropy})
		near(t, name+" shares", []float64{got.ClipFrac, got.PPOKL, got.ClipFracLower}, []float64{want.ClipFrac, want.PPOKL, want.ClipFracLower})
		for s := range want.DLogP {
			near(t, fmt.Sprintf("%s gradient by logp, sequence %d", name, s), got.DLogP[s], want.DLogP[s])
			near(t, fmt.Sprintf("%s gradient by entropy, sequence %d", name, s), got.DEntropy[s], want.DEntropy[s])
		}
	}
}

func near(t *testing.T, name string, got, want []float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d values, want %d", name, len(got), len(want))
	}
	for i := range want {
		if diff := math.Abs(got[i] - want[i]); !(diff <= 1e-6*max(1, math.Abs(want[i]))) {
			t.Errorf("%s: value %d is %v, verl has %v", name, i, got[i], want[i])
		}
	}
}

// askVerl has the script answer, by the Python that has verl.
func askVerl(t *testing.T, cases []mathCase) []byte {
	t.Helper()
	python := os.Getenv("CR_TEST_VERL_PYTHON")
	if python == "" {
		t.Skip("CR_TEST_VERL_PYTHON names no Python with verl")
	}
	cmd := exec.CommandContext(t.Context(), python, "testdata/core_algos.py")
	cmd.Stdin, cmd.Stderr = bytes.NewReader(lines(t, cases)), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func lines[T any](t *testing.T, all []T) []byte {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	for _, v := range all {
		if err := enc.Encode(v); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

func parseLines[T any](t *testing.T, text []byte) []T {
	t.Helper()
	var all []T
	in := bufio.NewScanner(bytes.NewReader(text))
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		var v T
		if err := json.Unmarshal(in.Bytes(), &v); err != nil {
			t.Fatal(err)
		}
		all = append(all, v)
	}
	return all
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func write(t *testing.T, path string, text []byte) {
	t.Helper()
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
}
