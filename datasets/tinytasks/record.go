package tinytasks

import (
	"encoding/json"
	"fmt"
	"io"
)

// record is a task as a line of LiveCodeBench's schema, in its field order.
type record struct {
	Title       string `json:"question_title"`
	Statement   string `json:"question_content"`
	Platform    string `json:"platform"`
	ID          string `json:"question_id"`
	ContestID   string `json:"contest_id"`
	ContestDate string `json:"contest_date"`
	StarterCode string `json:"starter_code"`
	Difficulty  string `json:"difficulty"`
	Public      string `json:"public_test_cases"`
	Private     string `json:"private_test_cases"`
	Metadata    string `json:"metadata"`
}

type testCase struct {
	Input  string `json:"input"`
	Output string `json:"output"`
	Type   string `json:"testtype"`
}

// day is the date of every task: they have none, and loaders want one.
const day = "2025-01-01T00:00:00"

// WriteJSONL writes tasks as a file of problems in LiveCodeBench's schema.
func WriteJSONL(w io.Writer, tasks []Task) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for _, t := range tasks {
		r, err := t.record()
		if err == nil {
			err = enc.Encode(r)
		}
		if err != nil {
			return fmt.Errorf("write task %s: %w", t.ID, err)
		}
	}
	return nil
}

func (t Task) record() (record, error) {
	r := record{
		Title: t.Recipe.Composition(), Statement: t.Statement, Platform: "tiny",
		ID: t.ID, ContestID: "tiny", ContestDate: day, StarterCode: t.Starter,
		Difficulty: t.difficulty(), Metadata: "{}",
	}
	if t.Method != "" {
		r.Metadata = `{"func_name": "` + t.Method + `"}`
	}
	var err error
	if r.Public, err = t.cases([]Test{t.Public}); err != nil {
		return r, err
	}
	r.Private, err = t.cases(t.Hidden)
	return r, err
}

// cases is a list of tests as LiveCodeBench keeps it: JSON in a string.
func (t Task) cases(tests []Test) (string, error) {
	kind := "stdin"
	if t.Method != "" {
		kind = "functional"
	}
	list := make([]testCase, len(tests))
	for i, test := range tests {
		list[i] = testCase{test.Input, test.Output, kind}
	}
	raw, err := json.Marshal(list)
	return string(raw), err
}

// difficulty goes by the number of steps; hard is what SFT never sees.
func (t Task) difficulty() string {
	switch depth := t.Recipe.Depth(); {
	case depth >= deep:
		return "hard"
	case depth == deep-1:
		return "medium"
	default:
		return "easy"
	}
}
