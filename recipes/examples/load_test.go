package examples

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	short     = `{"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]}`
	long      = `{"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "a long answer, a long answer, a long answer, a long answer"}]}`
	longLater = `{"messages": [{"role": "user", "content": "a long question, a long question, a long question, a long question"}, {"role": "assistant", "content": "b"}]}`
	untrained = `{"messages": [{"role": "user", "content": "a"}]}`
	broken    = `{"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "", "tool_calls": [{"name": "f", "arguments": "{"}]}]}`
	unnamed   = `{"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "", "tool_calls": [{"arguments": {}}]}]}`
	altered   = `{"messages": [{"role": "user", "content": "q"}, {"role": "assistant", "content": "<think>\nr\n</think>\n\nthe tag </think> ends it"}]}`
	unread    = `{"messages": [{"role": "robot", "content": "a"}]}`
	badMask   = `{"messages": [{"role": "assistant", "content": "a", "loss_mask": 2}]}`
)

func file(t *testing.T, lines ...string) []string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rows.jsonl")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	return []string{path}
}

// Rows that are no examples are dropped, counted, or stop the run, as the
// policies say.
func TestPolicies(t *testing.T) {
	m, _ := tiny(t)
	faulty := []string{short, broken, unnamed, altered, unread, badMask, untrained}
	for name, c := range map[string]struct {
		rows    []string
		options Options
		kept    int
		stop    string // the error, if any
		dropped map[Reason]int
	}{
		"default":               {[]string{short, untrained, short}, Options{}, 2, "", map[Reason]int{Untrained: 1}},
		"a faulty row":          {[]string{short, "", broken, short}, Options{}, 0, "rows.jsonl: line 3: message 1: tool call 0 (f): arguments", nil},
		"a call without a name": {[]string{unnamed}, Options{}, 0, "line 1: message 1: a tool call without a name", nil},
		"altered text":          {[]string{altered}, Options{}, 0, "line 1: message 1: the chat template drops or changes its text", nil},
		"an unknown role":       {[]string{unread}, Options{}, 0, `line 1: conversation: message 0: role "robot"`, nil},
		"a weight of 2":         {[]string{badMask}, Options{}, 0, "line 1: message 0: loss_mask 2", nil},
		"drop faulty": {
			faulty,
			Options{Faulty: FaultyDrop},
			1, "",
			map[Reason]int{BrokenCall: 2, TextLost: 1, NoConversation: 2, Untrained: 1},
		},
		"keep altered":  {faulty, Options{Faulty: FaultyKeep}, 2, "", map[Reason]int{BrokenCall: 2, NoConversation: 2, Untrained: 1}},
		"too long":      {[]string{short, long}, Options{MaxLength: 20, Faulty: FaultyDrop}, 0, "line 2: ", nil},
		"drop too long": {[]string{short, long}, Options{MaxLength: 20, TooLong: TooLongDrop}, 1, "", map[Reason]int{OverLong: 1}},
		"truncate":      {[]string{short, long, longLater}, Options{MaxLength: 20, TooLong: TooLongTruncate}, 2, "", map[Reason]int{Untrained: 1}},
		"no policy":     {[]string{short}, Options{Thinking: "none"}, 0, `thinking "none": want one of`, nil},
		"nothing left":  {[]string{untrained}, Options{}, 0, ErrNoExamples.Error(), nil},
	} {
		set, err := Load(t.Context(), file(t, c.rows...), m, c.options)
		if c.stop != "" {
			if err == nil || !strings.Contains(err.Error(), c.stop) {
				t.Errorf("%s: %v, want %s", name, err, c.stop)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		counts := set.Counts
		if len(set.Examples) != c.kept || counts.Examples != c.kept || counts.Rows != len(c.rows) || !maps.Equal(counts.Dropped, c.dropped) {
			t.Errorf("%s: %+v, want %d kept and %v", name, counts, c.kept, c.dropped)
		}
		var tokens, targets int
		for _, e := range set.Examples {
			tokens, targets = tokens+len(e.IDs), targets+e.Targets()
			if limit := c.options.MaxLength; limit > 0 && (len(e.IDs) > limit || e.Trained[len(e.Trained)-1].To > limit) {
				t.Errorf("%s: %d tokens, trained %v", name, len(e.IDs), e.Trained)
			}
		}
		if counts.Tokens != int64(tokens) || counts.Targets != int64(targets) {
			t.Errorf("%s: %d tokens and %d targets counted, there are %d and %d", name, counts.Tokens, counts.Targets, tokens, targets)
		}
	}
}

func TestTruncatedIsTheBeginning(t *testing.T) {
	m, _ := tiny(t)
	whole, err := Load(t.Context(), file(t, long), m, Options{})
	if err != nil {
		t.Fatal(err)
	}
	cut, err := Load(t.Context(), file(t, long), m, Options{MaxLength: 20, TooLong: TooLongTruncate})
	if err != nil {
		t.Fatal(err)
	}
	a, b := whole.Examples[0], cut.Examples[0]
	if fmt.Sprint(a.IDs[:20]) != fmt.Sprint(b.IDs) || fmt.Sprint(mask(a)[:20]) != fmt.Sprint(mask(b)) {
		t.Errorf("%v %v is not the beginning of %v %v", b.IDs, b.Trained, a.IDs, a.Trained)
	}
	if cut.Counts.Truncated != 1 || cut.Counts.Longest != len(a.IDs) {
		t.Errorf("%+v", cut.Counts)
	}
}

// Rows stay in order whatever thread is done first, and a stop ends all.
func TestLoadInOrder(t *testing.T) {
	m, _ := tiny(t)
	var rows []string
	for i := range 60 {
		rows = append(rows, fmt.Sprintf(`{"messages": [{"role": "user", "content": %q}, {"role": "assistant", "content": "%d"}]}`, strings.Repeat("x ", (i%5)*300), i))
	}
	files := file(t, rows...)
	seen := 0
	set, err := Load(t.Context(), files, m, Options{Threads: 8, Progress: func(done, _ int) { seen = done }})
	if err != nil || seen != len(rows) {
		t.Fatalf("%d rows seen, %v", seen, err)
	}
	for i, e := range set.Examples {
		s := e.Trained[0]
		if text := m.Decode(e.IDs[s.From:s.To], false); strings.TrimSpace(text) != fmt.Sprint(i) || !strings.HasSuffix(e.Name, fmt.Sprintf("line %d", i+1)) {
			t.Errorf("example %d is %s, %q", i, e.Name, text)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, err = Load(ctx, files, m, Options{Threads: 2, Progress: func(done, _ int) {
		if done == 3 {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}
