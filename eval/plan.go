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
	programs  map[key]datasets.Sample
	uncovered int // problems for which no program was given
	unknown   int // programs for problems that are not in the data
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
		return p, p.cover(*d.Programs, d.Set)
	}
	for _, problem := range p.problems {
		for sample := range c.N {
			p.keys = append(p.keys, key{problem.ID, sample})
		}
	}
	return p, nil
}

// cover plans the programs given and drops the problems without any.
func (p *plan) cover(programs datasets.Samples, set datasets.Set) error {
	p.programs = make(map[key]datasets.Sample, len(programs.Entries))
	known, wanted := idsOf(set.Problems), idsOf(p.problems)
	covered := make(map[string]bool)
	for _, program := range programs.Entries {
		if !known[program.ID] {
			p.unknown++
		}
		if !wanted[program.ID] {
			continue
		}
		k := key{program.ID, program.Index}
		p.programs[k] = program
		p.keys = append(p.keys, k)
		covered[k.id] = true
	}
	if len(p.keys) == 0 {
		return fmt.Errorf("samples: none of %d is for a problem of data %s", len(programs.Entries), set.Name)
	}
	slices.SortFunc(p.keys, key.compare)
	total := len(p.problems)
	p.problems = slices.DeleteFunc(p.problems, func(q datasets.Problem) bool { return !covered[q.ID] })
	p.uncovered = total - len(p.problems)
	return nil
}

func idsOf(problems []datasets.Problem) map[string]bool {
	ids := make(map[string]bool, len(problems))
	for _, p := range problems {
		ids[p.ID] = true
	}
	return ids
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
		_ = enc.Encode(Opening(problem, tools))
	}
	return hex.EncodeToString(h.Sum(nil))
}
