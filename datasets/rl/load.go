package rl

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"path/filepath"
	"strings"

	"github.com/coderl/cr/datasets"
	"github.com/coderl/cr/datasets/sft"
	"github.com/coderl/cr/sandbox/judge"
)

// Hard limits of one problem.
const (
	maxMessages = 1 << 10
	maxTests    = 1 << 16
	maxArgs     = 1 << 10 // of one call
)

// ErrNoProblems means that files hold no row.
var ErrNoProblems = errors.New("no problems")

// Load reads problems for reinforcement as this package writes them and verl
// reads them: prompt, reward_model.ground_truth, data_source. Files are parquet
// or JSONL. A problem's ID is its place, so that their order is the files'.
// Errors name file, row and what is wrong with it.
func Load(ctx context.Context, files []string) (datasets.Set, error) {
	l := loader{hash: sha256.New()}
	// The reader of conversations takes any three columns of nested values.
	columns := sft.Columns{Messages: "prompt", Tools: "reward_model", Thinking: "data_source"}
	if err := sft.Read(ctx, files, columns, l.add); err != nil {
		return datasets.Set{}, err
	}
	if len(l.problems) == 0 {
		return datasets.Set{}, fmt.Errorf("%s: %w", strings.Join(files, ", "), ErrNoProblems)
	}
	return datasets.Set{
		Name: filepath.Base(files[0]), SHA256: hex.EncodeToString(l.hash.Sum(nil)), Problems: l.problems,
	}, nil
}

// loader gathers problems.
type loader struct {
	hash     hash.Hash // of what was read, in order
	problems []datasets.Problem
}

func (l *loader) add(row sft.Row) error {
	p, err := problemOf(row)
	if err != nil {
		return fmt.Errorf("%s: %w", row.Name(), err)
	}
	p.ID = fmt.Sprintf("%07d", len(l.problems))
	for _, field := range []json.RawMessage{row.Messages, row.Tools, row.Thinking} {
		l.hash.Write(field)
		l.hash.Write([]byte{'\n'})
	}
	l.problems = append(l.problems, p)
	return nil
}

func problemOf(row sft.Row) (datasets.Problem, error) {
	p := datasets.Problem{Loose: true}
	if err := json.Unmarshal(row.Messages, &p.Opening); err != nil || len(p.Opening) == 0 || len(p.Opening) > maxMessages {
		return p, fmt.Errorf("prompt: want a list of 1 to %d messages with role and content", maxMessages)
	}
	p.Statement = p.Opening[len(p.Opening)-1].Content
	if row.Thinking != nil {
		if err := json.Unmarshal(row.Thinking, &p.Platform); err != nil {
			return p, errors.New("data_source: want a text")
		}
	}
	var reward struct {
		GroundTruth json.RawMessage `json:"ground_truth"`
	}
	if err := json.Unmarshal(row.Tools, &reward); err != nil || reward.GroundTruth == nil {
		return p, errors.New("reward_model: want an object with ground_truth")
	}
	var err error
	p.Method, p.Tests, err = parseTruth(reward.GroundTruth)
	if err != nil {
		return p, fmt.Errorf("reward_model.ground_truth: %w", err)
	}
	return p, nil
}

// truth is a ground truth by columns.
type truth struct {
	Input  []json.RawMessage `json:"input"`
	Output []json.RawMessage `json:"output"`
	Type   string            `json:"type"`
	Method *string           `json:"fn_name"`
}

// parseTruth reads a ground truth: an object, or its text.
func parseTruth(raw json.RawMessage) (method string, tests []judge.Test, err error) {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		raw = json.RawMessage(text)
	}
	var t truth
	if err := json.Unmarshal(raw, &t); err != nil {
		return "", nil, errors.New("not JSON with input, output, type and fn_name")
	}
	switch {
	case len(t.Input) != len(t.Output):
		return "", nil, fmt.Errorf("%d inputs but %d outputs", len(t.Input), len(t.Output))
	case len(t.Input) == 0 || len(t.Input) > maxTests:
		return "", nil, fmt.Errorf("%d tests, want 1 to %d", len(t.Input), maxTests)
	case t.Type == "function_call" && (t.Method == nil || *t.Method == ""):
		return "", nil, errors.New("function_call without fn_name")
	}
	called := t.Type == "function_call" || t.Type == "" && t.Method != nil
	if called {
		method = *t.Method
	}
	for i := range t.Input {
		test, err := testOf(t.Input[i], t.Output[i], called)
		if err != nil {
			return "", nil, fmt.Errorf("test %d: %w", i+1, err)
		}
		tests = append(tests, test)
	}
	return method, tests, nil
}

func testOf(input, output json.RawMessage, called bool) (judge.Test, error) {
	if !called {
		in, out := plainText(input), plainText(output)
		return judge.Test{Input: in, Output: out}, nil
	}
	args, err := arguments(input)
	if err != nil {
		return judge.Test{}, err
	}
	// ScaleBox compares with the first element of a list.
	var values []json.RawMessage
	if json.Unmarshal(output, &values) == nil {
		if len(values) == 0 {
			return judge.Test{}, errors.New("output is an empty list; it holds the one value that is expected")
		}
		output = values[0]
	} else if text := plainText(output); json.Valid([]byte(text)) {
		output = json.RawMessage(text)
	}
	return judge.Test{Input: strings.Join(args, "\n"), Output: oneLine(output)}, nil
}

// plainText is a JSON string's text, or another value as it is written.
func plainText(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(raw)
}

// arguments are a call's, one JSON value each: of a list, or of a text with one
// a line.
func arguments(raw json.RawMessage) ([]string, error) {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		for line := range strings.SplitSeq(strings.TrimSpace(plainText(raw)), "\n") {
			list = append(list, json.RawMessage(line))
		}
	}
	if len(list) > maxArgs {
		return nil, fmt.Errorf("%d arguments, want at most %d", len(list), maxArgs)
	}
	args := make([]string, len(list))
	for i, arg := range list {
		if !json.Valid(arg) {
			return nil, fmt.Errorf("argument %d is not JSON", i+1)
		}
		args[i] = oneLine(arg)
	}
	return args, nil
}

// oneLine is JSON without line breaks outside of its texts.
func oneLine(raw json.RawMessage) string {
	var b bytes.Buffer
	if err := json.Compact(&b, raw); err != nil {
		return string(raw)
	}
	return b.String()
}
