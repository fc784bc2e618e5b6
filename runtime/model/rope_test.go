package model

import (
	"encoding/json"
	"math"
	"os"
	"testing"
)

// Frequencies agree with transformers to the last bit or the one beside it:
// pow of float32 is not correctly rounded there.
func TestInvFreqAgreesWithTransformers(t *testing.T) {
	data, err := os.ReadFile("testdata/golden_rope.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		HeadDim int `json:"head_dim"`
		Rope    struct {
			Type            string  `json:"rope_type"`
			Theta           float64 `json:"rope_theta"`
			Factor          float64 `json:"factor"`
			Low             float64 `json:"low_freq_factor"`
			High            float64 `json:"high_freq_factor"`
			Original        int     `json:"original_max_position_embeddings"`
			AttentionFactor float64 `json:"attention_factor"`
			BetaFast        float64 `json:"beta_fast"`
			BetaSlow        float64 `json:"beta_slow"`
		}
		Scale float64
		Freq  []float32
	}
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	for i, c := range cases {
		config := Config{HeadDim: c.HeadDim, RopeTheta: c.Rope.Theta}
		if c.Rope.Type != "default" {
			config.RopeScaling = &RopeScaling{
				Type: c.Rope.Type, Factor: c.Rope.Factor, LowFreqFactor: c.Rope.Low, HighFreqFactor: c.Rope.High,
				OriginalContext: c.Rope.Original, AttentionFactor: c.Rope.AttentionFactor,
				BetaFast: c.Rope.BetaFast, BetaSlow: c.Rope.BetaSlow,
			}
		}
		freq, scale, err := InvFreq(config)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(float64(scale)-c.Scale) > 1e-6 {
			t.Errorf("case %d: scale %v, want %v", i, scale, c.Scale)
		}
		for j, want := range c.Freq {
			if ratio := math.Abs(float64(freq[j])/float64(want) - 1); ratio > 3e-7 {
				t.Errorf("case %d (%s): frequency %d is %v, want %v", i, c.Rope.Type, j, freq[j], want)
			}
		}
	}
}

func TestUnknownScalingIsRefused(t *testing.T) {
	for _, s := range []RopeScaling{{Type: "longrope", Factor: 2}, {Type: "linear"}} {
		if _, _, err := InvFreq(Config{HeadDim: 8, RopeTheta: 1e4, RopeScaling: &s}); err == nil {
			t.Errorf("%+v is accepted", s)
		}
	}
}
