package grpo

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coderl/cr/recipes/reward"
)

func tallyOf(rewards ...float64) tally {
	var t tally
	for _, r := range rewards {
		t.add(r)
	}
	return t
}

// Rewards that rise beyond chance while pass@1 does not are told of, and neither
// chance, nor a run in which both rise, nor one in which rewards fall.
func TestDisagreement(t *testing.T) {
	low, high := []float64{0, .25, .5, .25}, []float64{1, .75, 1, 1}
	for name, c := range map[string]struct {
		from, to       []float64
		passFrom, pass float64
		want           bool
	}{
		"rewards rise, pass@1 falls": {low, high, .3, .1, true},
		"rewards rise, pass@1 stays": {low, high, .3, .3, true},
		"both rise":                  {low, high, .3, .4, false},
		"both fall":                  {high, low, .3, .1, false},
		"a rise within chance":       {low, []float64{.5, 0, .5, .25}, .3, .1, false},
	} {
		var a agreement
		a.practised(tallyOf(9, 9, 9)) // before any validation: nothing to hold it against
		if _, ok := a.validated(c.passFrom); ok {
			t.Fatalf("%s: the first validation compares with nothing", name)
		}
		a.practised(tallyOf(c.from...))
		a.practised(tallyOf(c.to[:2]...))
		a.practised(tallyOf(c.to[2:]...))
		g, ok := a.validated(c.pass)
		if !ok || g.disagree() != c.want {
			t.Errorf("%s: compared %v, disagreement %v, want %v", name, ok, g.disagree(), c.want)
		}
		if a.Since.Groups != 0 || a.Base.Groups != 4 {
			t.Errorf("%s: afterwards the base has %d groups, the steps since %d", name, a.Base.Groups, a.Since.Groups)
		}
	}
	// numpy: std([0, .25, .5, .25], ddof=1) / 2
	if e := tallyOf(low...).standardError(); math.Abs(e-0.10206207261596577) > 1e-12 {
		t.Errorf("standard error %v", e)
	}
}

// A reward hack planted on purpose, which pays for the letter e, is learnt, and
// noticed by the evaluation.
func TestRewardHackIsNoticed(t *testing.T) {
	hack := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		var r reward.Request
		if err := json.NewDecoder(req.Body).Decode(&r); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		fmt.Fprintf(w, `{"score": %d}`, strings.Count(r.Messages[len(r.Messages)-1].Content, "e"))
	}))
	defer hack.Close()
	s := setup{Model: newModel(t), Out: filepath.Join(t.TempDir(), "run"), Settings: []string{
		"reward.own=" + hack.URL, "validate.before=true", "validate.every=6", "train.steps=12", "train.save_every=0",
		"rollout.group=6", "batch.mini=4", "optim.lr=0.02",
	}}
	c, err := s.config()
	check(t, err)
	var notes []string
	c.Note = func(line string) { notes = append(notes, line) }
	_, err = Run(t.Context(), c)
	check(t, err)
	if !strings.Contains(strings.Join(notes, "\n"), "the reward may be earned without solving problems") {
		t.Errorf("nothing is said: %q", notes)
	}
	lines := parseLines[map[string]*float64](t, read(t, filepath.Join(s.Out, "metrics.jsonl")))
	last := lines[len(lines)-1]
	if gain, pass := last["reward/gain"], last["reward/pass_gain"]; gain == nil || *gain < 0.5 || pass == nil || *pass > 0 {
		t.Errorf("the last validation's gains: %v, %v", gain, pass)
	}
}
