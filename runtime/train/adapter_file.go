package train

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/coderl/cr/internal/atomicfile"
	"github.com/coderl/cr/runtime/tensor"
	"github.com/coderl/cr/runtime/weights"
)

// peftConfig is adapter_config.json as PEFT reads it.
type peftConfig struct {
	Type         string   `json:"peft_type"`
	Task         string   `json:"task_type"`
	Base         string   `json:"base_model_name_or_path"`
	Rank         int      `json:"r"`
	Alpha        float64  `json:"lora_alpha"`
	Dropout      float64  `json:"lora_dropout"`
	Targets      []string `json:"target_modules"`
	Bias         string   `json:"bias"`
	FanInFanOut  bool     `json:"fan_in_fan_out"`
	InitWeights  bool     `json:"init_lora_weights"`
	InferenceFor bool     `json:"inference_mode"`
}

// SaveAdapter writes the adapters into a folder that exists, as PEFT reads them:
// adapter_config.json and adapter_model.safetensors.
func (t *Trainer) SaveAdapter(dir string) error {
	lora := t.options.LoRA
	if lora == nil {
		return errors.New("save adapter: the training is of the whole model")
	}
	config, err := json.MarshalIndent(peftConfig{
		Type: "LORA", Task: "CAUSAL_LM", Base: t.path, Rank: lora.Rank, Alpha: lora.Alpha,
		Targets: lora.Targets, Bias: "none", InitWeights: true, InferenceFor: true,
	}, "", "  ")
	if err != nil {
		return fmt.Errorf("save adapter: %w", err)
	}
	var list []weights.Unwritten
	for _, p := range t.parameters {
		list = append(list, weights.Unwritten{
			Name: "base_model.model." + p.name, DType: tensor.F32, Shape: p.master.Shape,
			Write: func(w io.Writer) error {
				return t.save(w, tensor.F32, p.master)
			},
		})
	}
	if err := weights.WriteTensors(filepath.Join(dir, "adapter_model.safetensors"), list); err != nil {
		return fmt.Errorf("save adapter: %w", err)
	}
	return atomicfile.WriteBytes(filepath.Join(dir, "adapter_config.json"), append(config, '\n'))
}
