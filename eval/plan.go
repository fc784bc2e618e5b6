package eval

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/coderl/cr/datasets"
)

// Program is a sample made elsewhere.
type Program struct {
	QuestionID string `json:"question_id"`
	Index      int    `json:"sample"` // among the problem's programs
	Code       string `json:"code,omitempty"`
	// Completion is a model's answer, from which code is extracted; used when
	// Code is "".
	Completion string `json:"completion,omitempty"`
}

// key identifies a sample.
type key struct {
	id     string
	sample int
}

func (k key) compare(other key) int {
	if c := strings.Compare(k.id, other.id); c != 0 {
		return c
	}
	return k.sample - other.sample
}

// plan is the work of a run: which problems, and which samples of each.
type plan struct {
	problems  []datasets.Problem // ordered by id
	keys      []key              // ordered
	programs  map[key]Program
	uncovered int // problems for which no program was given
}

func newPlan(c Config, d Deps) (plan, error) {
	p := plan{problems: slices.Clone(d.Set.Problems)}
	slices.SortFunc(p.problems, func(a, b datasets.Problem) int { return strings.Compare(a.ID, b.ID) })
	for i := 1; i < len(p.problems); i++ {
		if p.problems[i].ID == p.problems[i-1].ID {
			return p, fmt.Errorf("data %s: problem %s stands twice", d.Set.Name, p.problems[i].ID)
		}
	}
	if c.Limit > 0 && c.Limit < len(p.problems) {
		p.problems = p.problems[:c.Limit]
	}
	if d.Programs != nil {
		return p, p.cover(d.Programs, d.Set)
	}
	for _, problem := range p.problems {
		for sample := range c.N {
			p.keys = append(p.keys, key{problem.ID, sample})
		}
	}
	return p, nil
}

// cover plans the programs given and drops the problems without any.
func (p *plan) cover(programs []Program, set datasets.Set) error {
	p.programs = make(map[key]Program, len(programs))
	wanted := make(map[string]bool)
	for _, problem := range p.problems {
		wanted[problem.ID] = true
	}
	covered := make(map[string]bool)
	known := make(map[string]bool)
	for _, problem := range set.Problems {
		known[problem.ID] = true
	}
	for _, program := range programs {
		k := key{program.QuestionID, program.Index}
		if !known[k.id] {
			return fmt.Errorf("samples: question_id %q is not in data %s", k.id, set.Name)
		}
		if _, twice := p.programs[k]; twice {
			return fmt.Errorf("samples: sample %d of %s stands twice", k.sample, k.id)
		}
		if wanted[k.id] {
			p.programs[k] = program
			p.keys = append(p.keys, k)
			covered[k.id] = true
		}
	}
	slices.SortFunc(p.keys, key.compare)
	total := len(p.problems)
	p.problems = slices.DeleteFunc(p.problems, func(q datasets.Problem) bool { return !covered[q.ID] })
	p.uncovered = total - len(p.problems)
	if len(p.keys) == 0 {
		return fmt.Errorf("samples: none is for a problem of data %s", set.Name)
	}
	return nil
}

// problem finds a problem of the plan.
func (p plan) problem(id string) datasets.Problem {
	i, _ := slices.BinarySearchFunc(p.problems, id, func(q datasets.Problem, id string) int { return strings.Compare(q.ID, id) })
	return p.problems[i]
}

// promptHash covers every opening, so that a changed prompt is a changed run.
func (p plan) promptHash(tools bool) string {
	h := sha256.New()
	enc := json.NewEncoder(h)
	for _, problem := range p.problems {
		// Neither strings nor a hash can fail to be written.
		_ = enc.Encode(livecodebenchPrompt(problem, tools))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// hashJSON is the SHA-256 of a value's JSON.
func hashJSON(value []Program) string {
	h := sha256.New()
	_ = json.NewEncoder(h).Encode(value) // strings and numbers always encode
	return hex.EncodeToString(h.Sum(nil))
}
