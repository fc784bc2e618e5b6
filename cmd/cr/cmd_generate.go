package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"sync"

	"github.com/coderl/cr/runtime"
	"github.com/coderl/cr/runtime/chat"
	"github.com/coderl/cr/runtime/sampling"
)

type generateCmd struct {
	modelFlags    `embed:""`
	samplingFlags `embed:""`

	Prompt    string   `short:"p" help:"The user's message; - reads stdin."`
	Messages  string   `type:"existingfile" placeholder:"FILE" help:"A JSON list of chat messages, or an object with messages and tools."`
	IDs       bool     `name:"ids" help:"The prompt is a JSON list of token ids; no tokenizer is needed."`
	Raw       bool     `help:"Continue the prompt as it is, without the chat template."`
	N         int      `short:"n" name:"n" default:"1" help:"Samples of the one prompt; they share its KV cache."`
	MaxTokens int      `default:"512" help:"Most tokens a sample."`
	Stop      []string `sep:"none" help:"Text that ends a sample; may be given several times."`
	IgnoreEOS bool     `name:"ignore-eos" help:"Go on after an end-of-sequence token."`
	LogProbs  bool     `name:"logprobs" help:"Log-probabilities of the sampled tokens (with --json)."`
	Thinking  *bool    `negatable:"" help:"Let a model think that can switch (default: the template decides)."`
}

// Help is shown below the flags.
func (generateCmd) Help() string {
	return `Examples:
  cr generate --model Qwen3-1.7B/ --prompt "Write a haiku about tests" --temperature 0
  cr generate --model tiny.gguf --ids --prompt '[1, 15, 7]' --n 4 --json`
}

// Validate is called by Kong after parsing; it hides those of the embedded flags.
func (g *generateCmd) Validate() error {
	return cmp.Or(g.modelFlags.Validate(), g.samplingFlags.Validate(), g.validate())
}

func (g *generateCmd) validate() error {
	switch {
	case (g.Prompt == "") == (g.Messages == ""):
		return fmt.Errorf("give --prompt or --messages, one of them")
	case g.IDs && g.Messages != "":
		return fmt.Errorf("--ids goes with --prompt")
	case slices.Contains(g.Stop, ""):
		return fmt.Errorf("--stop: want a text that is not empty")
	case g.N < 1 || g.N > mostSequences:
		return fmt.Errorf("--n %d: want 1 to %d", g.N, mostSequences)
	case g.MaxTokens < 1:
		return fmt.Errorf("--max-tokens %d: want 1 or more", g.MaxTokens)
	}
	return nil
}

// mostAtOnce is how many samples run at once: each takes memory for a row of
// logits, and beyond it they gain no speed.
const mostAtOnce = 64

// generated is one sample in the JSON result.
type generated struct {
	IDs      []int32   `json:"ids"`
	Text     string    `json:"text"`
	LogProbs []float32 `json:"logprobs,omitempty"`
	Finish   string    `json:"finish_reason"`
}

// show is a sample's text, or its ids for a model without a tokenizer.
func (g generated) show() string {
	if g.Text == "" {
		return fmt.Sprint(g.IDs)
	}
	return g.Text
}

// Run generates the samples; a single one streams to stdout.
func (g *generateCmd) Run(ctx context.Context, c *console) error {
	engine, err := g.open(ctx, c, min(g.N, mostAtOnce))
	if err != nil {
		return err
	}
	defer engine.Close()
	prompt, err := g.promptIDs(c, engine)
	if err != nil {
		return err
	}
	samples, err := g.sample(ctx, c, engine, prompt)
	if err != nil {
		return err
	}
	speed(c, engine.Stats())
	return c.result(map[string]any{"samples": samples}, func(w io.Writer) error {
		return g.print(w, samples)
	})
}

// promptIDs turns the flags into the prompt's token ids.
func (g *generateCmd) promptIDs(c *console, engine *runtime.Engine) ([]int32, error) {
	text := g.Prompt
	if text == "-" {
		b, err := io.ReadAll(os.Stdin)
		if err != nil {
			return nil, fmt.Errorf("read the prompt: %w", err)
		}
		text = string(b)
	}
	if g.IDs {
		var ids []int32
		if err := json.Unmarshal([]byte(text), &ids); err != nil {
			return nil, usagef("--prompt with --ids: want a JSON list of token ids: %v", err)
		}
		if _, err := engine.Chat(); err != nil && !errors.Is(err, fs.ErrNotExist) {
			c.note("note: ids without text: %v", err)
		}
		return ids, nil
	}
	model, err := engine.Chat()
	if err != nil {
		return nil, badInput(fmt.Errorf("%w; --ids needs no tokenizer", err))
	}
	if g.Raw && g.Messages == "" {
		return model.EncodePrompt(text), nil
	}
	messages, tools, err := g.conversation(text)
	if err != nil {
		return nil, badInput(err)
	}
	rendered, err := model.Render(messages, tools, chat.RenderOptions{AddGenerationPrompt: true, Thinking: g.Thinking})
	return rendered.IDs, badInput(err)
}

func (g *generateCmd) conversation(text string) ([]chat.Message, []chat.Tool, error) {
	if g.Messages == "" {
		return []chat.Message{{Role: "user", Content: text}}, nil, nil
	}
	b, err := os.ReadFile(g.Messages)
	if err != nil {
		return nil, nil, err
	}
	messages, tools, err := chat.ParseConversation(b)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", g.Messages, err)
	}
	return messages, tools, nil
}

// sample draws the N samples at once; they share the prompt's cache.
func (g *generateCmd) sample(ctx context.Context, c *console, engine *runtime.Engine, prompt []int32) ([]generated, error) {
	samples := make([]generated, g.N)
	failures := make([]error, g.N)
	var running sync.WaitGroup
	for i := range samples {
		running.Go(func() {
			samples[i], failures[i] = g.one(ctx, c, engine, prompt, i)
		})
	}
	running.Wait()
	for _, err := range failures {
		if err != nil {
			return nil, fmt.Errorf("generate: %w", err)
		}
	}
	return samples, nil
}

func (g *generateCmd) one(ctx context.Context, c *console, engine *runtime.Engine, prompt []int32, i int) (generated, error) {
	sequence, err := engine.NewSequence(prompt)
	if err != nil {
		return generated{}, badInput(err)
	}
	defer sequence.Close()
	emit := func(t runtime.Token) {
		if g.N == 1 && !c.json {
			fmt.Fprint(c.out, t.Text)
		}
	}
	result, err := sequence.Generate(ctx, runtime.Params{
		Sampling: sampling.Params{
			Temperature: g.Temperature, TopP: g.TopP, TopK: g.TopK, MinP: g.MinP, RepetitionPenalty: g.RepetitionPenalty,
		},
		MaxTokens: g.MaxTokens, Stop: g.Stop, IgnoreEOS: g.IgnoreEOS, LogProbs: g.LogProbs,
		Seed: g.Seed, Request: strconv.Itoa(i),
	}, emit)
	return generated{IDs: result.IDs, Text: result.Text, LogProbs: result.LogProbs, Finish: result.Finish}, err
}

// print ends a streamed sample, or prints several with a line above each.
func (g *generateCmd) print(w io.Writer, samples []generated) error {
	if len(samples) == 1 {
		rest := "" // the text was streamed
		if samples[0].Text == "" {
			rest = samples[0].show()
		}
		_, err := fmt.Fprintln(w, rest)
		return err
	}
	for i, s := range samples {
		if _, err := fmt.Fprintf(w, "--- sample %d (%s)\n%s\n", i, s.Finish, s.show()); err != nil {
			return err
		}
	}
	return nil
}

// speed notes the engine's tokens per second.
func speed(c *console, s runtime.Stats) {
	rate := func(tokens int64, seconds float64) float64 {
		if seconds == 0 {
			return 0
		}
		return float64(tokens) / seconds
	}
	c.note("prompt %d tokens, %.0f tokens/s · generated %d, %.0f tokens/s",
		s.PrefillTokens, rate(s.PrefillTokens, s.PrefillSeconds), s.DecodeTokens, rate(s.DecodeTokens, s.DecodeSeconds))
}
