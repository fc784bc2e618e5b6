package datasets

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/coderl/cr/internal/pickle"
	"github.com/coderl/cr/sandbox/judge"
)

// maxPrivate bounds the tests of one problem once decompressed, well above
// LiveCodeBench's largest: a small file may claim terabytes.
const maxPrivate = 1 << 30

// testCase is a test as LiveCodeBench writes it.
type testCase struct {
	Input  *string `json:"input"`
	Output *string `json:"output"`
	Type   string  `json:"testtype"`
}

// parseTests reads a JSON list of test cases.
func parseTests(text embedded, method string) ([]judge.Test, error) {
	if text.empty() {
		return nil, nil
	}
	var cases []testCase
	if err := json.Unmarshal(text, &cases); err != nil {
		return nil, jsonProblem(err)
	}
	tests := make([]judge.Test, len(cases))
	for i, c := range cases {
		switch c.Type {
		case "", "stdin":
		case "functional":
			if method == "" {
				return nil, fmt.Errorf("test %d is functional, but metadata names no func_name", i+1)
			}
		default:
			return nil, fmt.Errorf("test %d: testtype %q is neither stdin nor functional", i+1, c.Type)
		}
		// Taken as "", a forgotten output would accept programs that print nothing.
		if c.Input == nil || c.Output == nil {
			return nil, fmt.Errorf("test %d: it needs an input and an output, each a string", i+1)
		}
		tests[i] = judge.Test{Input: *c.Input, Output: *c.Output}
	}
	return tests, nil
}

// privateTests reads private tests: JSON, or base64 of zlib of a pickled string
// that holds the JSON.
func privateTests(field embedded, method string) ([]judge.Test, error) {
	if text := bytes.TrimSpace(field); len(text) == 0 || text[0] == '[' {
		return parseTests(field, method)
	}
	pickled, err := inflate(field, maxPrivate)
	if err != nil {
		return nil, err
	}
	text, err := unpickleTests(pickled)
	if err != nil {
		return nil, err
	}
	return parseTests(text, method)
}

// inflate undoes base64 and zlib, and gives up beyond limit bytes.
func inflate(field []byte, limit int64) ([]byte, error) {
	z, err := zlib.NewReader(base64.NewDecoder(base64.StdEncoding, bytes.NewReader(bytes.TrimSpace(field))))
	if err != nil {
		return nil, fmt.Errorf("neither JSON nor base64 of zlib: %w", err)
	}
	data, err := io.ReadAll(io.LimitReader(z, limit+1))
	if err != nil {
		return nil, fmt.Errorf("decompress: %w", err)
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("larger than %d MB once decompressed", limit>>20)
	}
	return data, nil
}

// unpickleTests gets the JSON list out of a pickle: a string, or SandboxFusion's
// dict with input_output.
func unpickleTests(pickled []byte) (embedded, error) {
	v, err := pickle.Decode(pickled, pickle.Options{Limits: pickle.Limits{Bytes: maxPrivate, Values: 1000}})
	if err != nil {
		return nil, err
	}
	switch v := v.(type) {
	case string:
		return embedded(v), nil
	case *pickle.Dict:
		if text, ok := v.Get("input_output"); ok {
			if text, ok := text.(string); ok {
				return zipTests([]byte(text))
			}
		}
	}
	return nil, errors.New("the pickle holds no text of tests")
}

// zipTests turns {"inputs": […], "outputs": […]} into the usual list.
func zipTests(text []byte) (embedded, error) {
	if first := bytes.TrimSpace(text); len(first) > 0 && first[0] == '[' {
		return text, nil
	}
	var pairs struct {
		Inputs  []string `json:"inputs"`
		Outputs []string `json:"outputs"`
	}
	if err := json.Unmarshal(text, &pairs); err != nil {
		return nil, fmt.Errorf("input_output: %w", jsonProblem(err))
	}
	if len(pairs.Inputs) != len(pairs.Outputs) {
		return nil, fmt.Errorf("input_output: %d inputs, %d outputs", len(pairs.Inputs), len(pairs.Outputs))
	}
	cases := make([]testCase, len(pairs.Inputs))
	for i := range cases {
		cases[i] = testCase{Input: &pairs.Inputs[i], Output: &pairs.Outputs[i]}
	}
	return json.Marshal(cases)
}
