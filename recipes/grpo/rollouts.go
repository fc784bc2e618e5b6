package grpo

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/coderl/cr/eval/agent"
	"github.com/coderl/cr/internal/atomicfile"
	"github.com/coderl/cr/runtime/chat"
	"github.com/coderl/cr/sandbox"
)

// rolloutsDir holds what was sampled, N.jsonl for step N.
const rolloutsDir = "rollouts"

// rolloutLine is one answer of a step.
type rolloutLine struct {
	QuestionID       string             `json:"question_id"`
	Sample           int                `json:"sample"`
	Messages         []chat.Message     `json:"messages"`
	Code             string             `json:"code"`
	Reward           float64            `json:"reward"`
	CodeScore        float64            `json:"code_score"`
	Bonus            float64            `json:"tool_call_bonus"`
	Advantage        float64            `json:"advantage"`
	Verdict          sandbox.Verdict    `json:"verdict"`
	Tests            []sandbox.Verdict  `json:"tests"`
	Finish           agent.Finish       `json:"finish_reason"`
	PromptTokens     int                `json:"prompt_tokens"`
	CompletionTokens int                `json:"completion_tokens"`
	ReplyTokens      int                `json:"tool_tokens"`
	ToolCalls        int                `json:"tool_calls"`
	LeftOut          fate               `json:"left_out,omitempty"` // of the loss: masked, dropped
	Metrics          map[string]float64 `json:"metrics,omitempty"`
	Error            string             `json:"error,omitempty"`
}

// saveRollouts writes a step's answers, whole or not at all.
func (r *runner) saveRollouts(step int, samples []*sample) error {
	dir := filepath.Join(r.folder.Path(), rolloutsDir)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(dir, strconv.Itoa(step)+".jsonl"), func(w io.Writer) error {
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		for _, s := range samples {
			if err := enc.Encode(s.line()); err != nil {
				return fmt.Errorf("write the answers of step %d: %w", step, err)
			}
		}
		return nil
	})
}

func (s *sample) line() rolloutLine {
	line := rolloutLine{
		QuestionID: s.question, Sample: s.index, Messages: s.episode.Messages, Code: s.score.Program,
		Reward: s.score.Reward, CodeScore: s.score.Code, Bonus: s.score.Bonus, Advantage: s.advantage,
		Verdict: s.score.Verdict, Tests: s.score.Tests, Finish: s.episode.Finish,
		PromptTokens: s.episode.PromptTokens, CompletionTokens: s.episode.CompletionTokens,
		ReplyTokens: s.episode.ReplyTokens, ToolCalls: s.episode.ToolCalls, LeftOut: s.fate, Metrics: s.score.Metrics,
	}
	if s.failure != nil {
		line.Verdict, line.Error = sandbox.InfraError, s.failure.Error()
	}
	return line
}

// clearRollouts removes the answers of steps after last, which a killed process
// had not yet saved a checkpoint of.
func (r *runner) clearRollouts(last int) error {
	dir := filepath.Join(r.folder.Path(), rolloutsDir)
	entries, err := os.ReadDir(dir)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, entry := range entries {
		name, ok := strings.CutSuffix(entry.Name(), ".jsonl")
		if n, err := strconv.Atoi(name); ok && err == nil && n > last {
			if err := os.Remove(filepath.Join(dir, entry.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}
