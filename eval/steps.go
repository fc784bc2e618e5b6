package eval

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// StepRun is a finished run that evaluated one step of a training run.
type StepRun struct {
	Step int    // 0: what the training began from
	Path string // run folder
}

// Steps are the scores of a training run's checkpoints, over the same problems
// and with the same draws. Nothing in it depends on time.
type Steps struct {
	Benchmark  string   `json:"benchmark"`
	Data       DataInfo `json:"data"`
	Confidence float64  `json:"confidence"` // of every interval
	Steps      []Step   `json:"steps"`      // ascending
	Notices    []string `json:"notices"`
}

// Step is what one checkpoint scored.
type Step struct {
	Step     int `json:"step"`
	Problems int `json:"problems"`
	Samples  int `json:"samples"`
	Figures
	// AgainstFirst sets the step against the first one; null for that itself.
	AgainstFirst   *StepChange `json:"against_first"`
	InfraErrors    int         `json:"infra_errors"`
	Truncated      int         `json:"truncated"`
	NoCode         int         `json:"no_code"`
	DroppedPrompts int         `json:"dropped_prompts"`
	Turns          int         `json:"turns"`
	ToolCalls      int         `json:"tool_calls"`
	Tokens         Tokens      `json:"tokens"`
}

// StepChange is how a step differs from the first one, paired by problem; see
// [Comparison] for its parts.
type StepChange struct {
	Difference Estimate `json:"difference"` // of pass@1
	Detectable *float64 `json:"detectable"`
	Gained     int      `json:"gained"` // problems solved more often
	Lost       int      `json:"lost"`
}

func (c StepChange) unchanged() bool { return c.Gained+c.Lost == 0 }

// LoadSteps reads the finished runs of a training run's steps, in any order, and
// sets each against the earliest. Runs over different problems are an
// [ErrDifferentData]; settings that differ are named in the notices.
func LoadSteps(runs []StepRun) (Steps, error) {
	s := Steps{Confidence: reportConfidence, Steps: []Step{}, Notices: []string{}}
	if len(runs) == 0 {
		return s, errors.New("no steps to compare")
	}
	runs = slices.SortedFunc(slices.Values(runs), func(a, b StepRun) int { return cmp.Compare(a.Step, b.Step) })
	steps, finished := make([]int, len(runs)), make([]Finished, len(runs))
	for i, r := range runs {
		var err error
		if finished[i], err = LoadRun(r.Path); err != nil {
			return s, fmt.Errorf("step %d: %w", r.Step, err)
		}
		steps[i] = r.Step
		step := stepOf(r.Step, finished[i].Results)
		if i > 0 {
			if step.AgainstFirst, err = changeSince(finished[0], finished[i]); err != nil {
				return s, fmt.Errorf("steps %d and %d: %w", steps[0], r.Step, err)
			}
		}
		s.Steps = append(s.Steps, step)
	}
	s.Benchmark, s.Data = finished[0].Results.Benchmark, finished[0].Results.Data
	s.Notices = stepNotices(steps, finished)
	return s, nil
}

func stepOf(step int, r Results) Step {
	return Step{
		Step: step, Problems: r.Problems, Samples: r.Samples, Figures: r.Figures,
		InfraErrors: r.InfraErrors, Truncated: r.Truncated, NoCode: r.NoCode, DroppedPrompts: r.DroppedPrompts,
		Turns: r.Turns, ToolCalls: r.ToolCalls, Tokens: r.Tokens,
	}
}

func changeSince(first, run Finished) (*StepChange, error) {
	c, err := Compare(first, run, CompareOptions{})
	if err != nil {
		return nil, err
	}
	return &StepChange{Difference: c.Difference, Detectable: c.Detectable, Gained: len(c.Gained), Lost: len(c.Lost)}, nil
}

// stepNotices are the lines that the figures must be read with: those of the
// runs, each with the steps that it holds for unless it holds for all, and the
// settings in which a run differs from the first.
func stepNotices(steps []int, runs []Finished) []string {
	holdsFor := map[string][]string{}
	var texts []string
	for i, run := range runs {
		for _, text := range run.Results.Notices {
			if holdsFor[text] == nil {
				texts = append(texts, text)
			}
			holdsFor[text] = append(holdsFor[text], strconv.Itoa(steps[i]))
		}
	}
	notices := []string{}
	for _, text := range texts {
		if of := holdsFor[text]; len(of) < len(runs) {
			text = "step " + strings.Join(of, ", ") + ": " + text
		}
		notices = append(notices, text)
	}
	for i, run := range runs {
		for _, text := range differingSettings(runs[0], run, "model", "weights") {
			notices = append(notices, fmt.Sprintf("steps %d and %d differ in %s", steps[0], steps[i], text))
		}
	}
	return notices
}
