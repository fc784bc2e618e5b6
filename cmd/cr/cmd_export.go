package main

import (
	"context"
	"fmt"
	"io"

	"github.com/coderl/cr/runtime/tensor"
	"github.com/coderl/cr/runtime/train"
)

type exportCmd struct {
	Model string `arg:"" help:"A .gguf file, a folder in Hugging Face layout, hub:ORG/NAME[@REV], or a shipped model's name."`

	Out   string `required:"" placeholder:"DIR" help:"New folder for the model."`
	DType string `name:"dtype" enum:"f32,bf16" default:"f32" help:"Element type to write: f32, which holds quantised values exactly, or bf16."`

	Cache cacheFlags `embed:""`
}

// Help is shown below the flags.
func (exportCmd) Help() string {
	return `Example:
  cr export SmolLM2-135M-Instruct.Q4_1.gguf --out SmolLM2-135M

Writes safetensors, configuration, tokenizer and chat template: what transformers
reads, what cr train goes on from, and the base that LoRA adapters trained on the
file belong to.`
}

// Run exports.
func (e *exportCmd) Run(ctx context.Context, c *console) error {
	path, err := modelFlags{Model: e.Model, Cache: e.Cache}.path(ctx, c)
	if err != nil {
		return err
	}
	dtype := tensor.F32
	if e.DType == "bf16" {
		dtype = tensor.BF16
	}
	if err := train.Export(ctx, path, e.Out, dtype); err != nil {
		return err
	}
	result := struct {
		Out   string `json:"out"`
		DType string `json:"dtype"`
	}{e.Out, e.DType}
	return c.result(result, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "%s: %s\n", e.Out, e.DType)
		return err
	})
}
