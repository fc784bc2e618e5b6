package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/coderl/cr/runtime"
	"github.com/coderl/cr/runtime/chat"
)

type scoreCmd struct {
	modelFlags `embed:""`

	File string `arg:"" help:"JSONL, each line with text, messages or ids; - reads stdin."`
}

// Help is shown below the flags.
func (scoreCmd) Help() string {
	return `Example:
  echo '{"text": "def add(a, b): return a + b"}' | cr score - --model Qwen3-1.7B/

Each line of the result has ids, logprobs (the first is null), sum and perplexity.
With --json they are the elements of scores, in one object.`
}

// maxScoreLine bounds one line of input.
const maxScoreLine = 64 << 20

// scored is one line of the result.
type scored struct {
	IDs        []int32    `json:"ids"`
	LogProbs   []*float32 `json:"logprobs"`
	Sum        float64    `json:"sum"`
	Perplexity float64    `json:"perplexity"`
}

// Run scores line by line.
func (s *scoreCmd) Run(ctx context.Context, c *console) error {
	in := io.Reader(os.Stdin)
	if s.File != "-" {
		f, err := os.Open(s.File)
		if err != nil {
			return badInput(fmt.Errorf("score: %w", err))
		}
		defer f.Close()
		in = f
	}
	engine, err := s.open(ctx, c, 1)
	if err != nil {
		return err
	}
	defer engine.Close()

	all := []scored{} // with --json: one object at the end, not a line each
	enc := json.NewEncoder(c.out)
	err = s.each(ctx, engine, in, func(result scored) error {
		if c.json {
			all = append(all, result)
			return nil
		}
		return enc.Encode(result)
	})
	if err != nil || !c.json {
		return err
	}
	return c.result(map[string]any{"scores": all}, nil)
}

// each scores the lines of in one after the other.
func (s *scoreCmd) each(ctx context.Context, engine *runtime.Engine, in io.Reader, emit func(scored) error) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxScoreLine)
	n := 1
	for ; lines.Scan(); n++ {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		result, err := scoreLine(ctx, engine, lines.Bytes())
		if err != nil {
			return fmt.Errorf("score: %s: line %d: %w", s.name(), n, err)
		}
		if err := emit(result); err != nil {
			return fmt.Errorf("score: write the result: %w", err)
		}
	}
	if err := lines.Err(); err != nil {
		return badInput(fmt.Errorf("score: %s: line %d: %w", s.name(), n, err))
	}
	return nil
}

// name is the input's in messages.
func (s *scoreCmd) name() string {
	if s.File == "-" {
		return "stdin"
	}
	return s.File
}

func scoreLine(ctx context.Context, engine *runtime.Engine, line []byte) (scored, error) {
	ids, err := lineIDs(engine, line)
	if err != nil {
		return scored{}, badInput(err)
	}
	logProbs, err := engine.Score(ctx, ids)
	if errors.Is(err, runtime.ErrTooLong) || errors.As(err, new(*runtime.TokenError)) {
		return scored{}, badInput(err)
	}
	if err != nil {
		return scored{}, err
	}
	result := scored{IDs: ids, LogProbs: make([]*float32, len(ids))}
	for i := range logProbs {
		result.LogProbs[i+1] = &logProbs[i]
		result.Sum += float64(logProbs[i])
	}
	if len(logProbs) > 0 {
		result.Perplexity = math.Exp(-result.Sum / float64(len(logProbs)))
	}
	return result, nil
}

// lineIDs reads a line's ids, or encodes its text or messages.
func lineIDs(engine *runtime.Engine, line []byte) ([]int32, error) {
	var fields struct {
		IDs      []int32         `json:"ids"`
		Text     *string         `json:"text"`
		Messages json.RawMessage `json:"messages"`
	}
	if err := json.Unmarshal(line, &fields); err != nil {
		return nil, fmt.Errorf("want a JSON object: %w", err)
	}
	switch {
	case len(fields.IDs) > 0:
		return fields.IDs, nil
	case fields.Text == nil && fields.Messages == nil:
		return nil, errors.New("want a field text, messages or ids")
	}
	model, err := engine.Chat()
	if err != nil {
		return nil, err
	}
	if fields.Text != nil {
		return model.EncodePrompt(*fields.Text), nil
	}
	messages, tools, err := chat.ParseConversation(line)
	if err != nil {
		return nil, err
	}
	rendered, err := model.Render(messages, tools, chat.RenderOptions{})
	return rendered.IDs, err
}
