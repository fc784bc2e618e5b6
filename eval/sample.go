package eval

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/coderl/cr/eval/agent"
	"github.com/coderl/cr/runtime/chat"
	"github.com/coderl/cr/sandbox"
	"github.com/coderl/cr/sandbox/judge"
)

// Sample is one line of samples.jsonl: one answer and its judgement.
type Sample struct {
	QuestionID       string          `json:"question_id"`
	Index            int             `json:"sample"`
	Messages         []chat.Message  `json:"messages"`
	Code             string          `json:"code"`
	Passed           bool            `json:"passed"`
	Verdict          sandbox.Verdict `json:"verdict"`
	Tests            []TestLine      `json:"tests"`
	Finish           agent.Finish    `json:"finish_reason"`
	PromptTokens     int             `json:"prompt_tokens"`
	CompletionTokens int             `json:"completion_tokens"`
	Seed             uint64          `json:"seed"`
	ExtractedBy      string          `json:"extracted_by,omitempty"` // see [Extraction]
	Error            string          `json:"error,omitempty"`        // why an infra_error is one
}

// TestLine is one test's outcome in figures that a rerun repeats: whole seconds
// of CPU time, and memory in bytes rounded up to a step of 64 MiB. The precise
// figures are in timing.json; docs/decisions/0001 has the reasons.
type TestLine struct {
	Verdict sandbox.Verdict `json:"verdict"`
	Seconds int             `json:"seconds"`
	Memory  int64           `json:"memory"`
}

// memoryStep is the resolution of memory in samples.jsonl.
const memoryStep = 64 << 20

// testLine makes a test's figures coarse. How far a program got before its time
// was up differs from run to run, so a TLE shows its limit and no memory.
func testLine(t judge.TestResult, limits sandbox.Limits) TestLine {
	line := TestLine{Verdict: t.Verdict, Seconds: int(t.CPU / time.Second)}
	line.Memory = (t.Memory + memoryStep - 1) / memoryStep * memoryStep
	switch t.Verdict {
	case sandbox.TLE:
		line.Memory = 0
		if limits.CPU > 0 {
			line.Seconds = int(limits.CPU / time.Second)
		}
	case sandbox.MLE:
		if limits.Memory > 0 {
			line.Memory = (limits.Memory + memoryStep - 1) / memoryStep * memoryStep
		}
	}
	return line
}

// record is one line of the journal: a sample with what results.json and
// timing.json need beside it.
type record struct {
	Sample      Sample `json:"sample"`
	Turns       int    `json:"turns"`
	ToolCalls   int    `json:"tool_calls"`
	ReplyTokens int    `json:"tool_tokens"`
	// Cut: the answer ended at a budget, or its thinking never ended.
	Cut    bool   `json:"cut"`
	Timing timing `json:"timing"`
}

func (r record) key() key { return key{r.Sample.QuestionID, r.Sample.Index} }

// timing is a sample's precise figures.
type timing struct {
	Generate float64    `json:"generate_seconds"` // tool calls included
	Judge    float64    `json:"judge_seconds"`
	Tests    []testTime `json:"tests"`
}

type testTime struct {
	Seconds float64 `json:"seconds"` // CPU time
	Memory  int64   `json:"memory"`  // peak bytes
	Detail  string  `json:"detail,omitempty"`
}

// encodeLine writes a value as one line of JSON with < > & as themselves.
func encodeLine(value any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(value)
	return b.Bytes(), err
}
