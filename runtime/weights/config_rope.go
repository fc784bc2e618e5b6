package weights

import (
	"cmp"
	"math"
	"strconv"

	"github.com/coderl/cr/runtime/model"
)

// ropeConfig is the rotary part of config.json. Files released up to
// transformers 4 say rope_theta and rope_scaling; version 5 joins the two in
// rope_parameters.
type ropeConfig struct {
	Theta           *float64        `json:"rope_theta"`
	Scaling         *ropeParameters `json:"rope_scaling"`
	Parameters      *ropeParameters `json:"rope_parameters"`
	PartialFactor   *float64        `json:"partial_rotary_factor"`
	OriginalContext *int            `json:"original_max_position_embeddings"`
}

type ropeParameters struct {
	Type            string   `json:"rope_type"`
	OldType         string   `json:"type"`
	Theta           *float64 `json:"rope_theta"`
	PartialFactor   *float64 `json:"partial_rotary_factor"`
	Factor          float64  `json:"factor"`
	LowFreqFactor   float64  `json:"low_freq_factor"`
	HighFreqFactor  float64  `json:"high_freq_factor"`
	OriginalContext *int     `json:"original_max_position_embeddings"`
	AttentionFactor *float64 `json:"attention_factor"`
	BetaFast        float64  `json:"beta_fast"`
	BetaSlow        float64  `json:"beta_slow"`
	MScale          float64  `json:"mscale"`
	MScaleAllDim    float64  `json:"mscale_all_dim"`
	Truncate        *bool    `json:"truncate"`
}

// parameters returns the object in force: the old key wins, as in transformers.
func (r *ropeConfig) parameters() ropeParameters {
	for _, p := range []*ropeParameters{r.Scaling, r.Parameters} {
		if p != nil {
			return *p
		}
	}
	return ropeParameters{}
}

// theta is the base of the rotary frequencies; 10000 where no key gives it.
func (r *ropeConfig) theta() float64 {
	return valueOr(r.parameters().Theta, valueOr(r.Theta, 10000))
}

// scaling returns nil for plain RoPE. context is the model's longest sequence.
func (r *ropeConfig) scaling(context int) (*model.RopeScaling, error) {
	p := r.parameters()
	if part := valueOr(p.PartialFactor, valueOr(r.PartialFactor, 1)); part != 1 {
		return nil, &UnsupportedOptionError{Option: "partial_rotary_factor", Value: strconv.FormatFloat(part, 'g', -1, 64)}
	}
	kind := cmp.Or(p.Type, p.OldType, "default")
	scaling := &model.RopeScaling{
		Type: kind, Factor: p.Factor,
		OriginalContext: valueOr(r.OriginalContext, valueOr(p.OriginalContext, context)),
	}
	switch kind {
	case "default":
		return nil, nil
	case "linear":
		scaling.OriginalContext = 0
	case "llama3":
		scaling.LowFreqFactor, scaling.HighFreqFactor = p.LowFreqFactor, p.HighFreqFactor
	case "yarn":
		if !valueOr(p.Truncate, true) {
			return nil, &UnsupportedOptionError{Option: "rope_parameters.truncate", Value: "false"}
		}
		scaling.BetaFast, scaling.BetaSlow = cmp.Or(p.BetaFast, 32), cmp.Or(p.BetaSlow, 1)
		scaling.AttentionFactor = valueOr(p.AttentionFactor, p.yarnAttention())
	default:
		return nil, &UnsupportedOptionError{Option: "rope_type", Value: kind}
	}
	return scaling, nil
}

// yarnAttention is what multiplies sine and cosine when the file does not say:
// the YaRN paper's 0.1·ln(factor)+1, or DeepSeek's quotient of two such terms.
func (p *ropeParameters) yarnAttention() float64 {
	if p.MScale != 0 && p.MScaleAllDim != 0 {
		return yarnScale(p.Factor, p.MScale) / yarnScale(p.Factor, p.MScaleAllDim)
	}
	return yarnScale(p.Factor, 1)
}

func yarnScale(factor, mscale float64) float64 {
	if factor <= 1 {
		return 1
	}
	return 0.1*mscale*math.Log(factor) + 1
}
