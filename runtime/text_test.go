package runtime

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/coderl/cr/runtime/chat"
)

// wordModel is a tokenizer of the given pieces, ids in their order.
func wordModel(t *testing.T, pieces ...string) *chat.Model {
	t.Helper()
	v := chat.Vocabulary{Model: "gpt2", Pre: "smollm", BOS: -1, EOS: -1, PAD: -1}
	for _, p := range pieces {
		v.Tokens = append(v.Tokens, strings.ReplaceAll(p, " ", "Ġ"))
		v.Types = append(v.Types, 1)
	}
	m, err := chat.FromVocabulary(v)
	check(t, err)
	t.Cleanup(func() { check(t, m.Close()) })
	return m
}

func TestStopTexts(t *testing.T) {
	pieces := []string{"x", " E", "ND y", "z", "END", "EN", "D", "aab"}
	for _, c := range []struct {
		name    string
		stops   []string
		ids     []int32
		shown   []string // text that comes with each token; "|" ends there
		stopped bool
	}{
		{"completes inside a later token", []string{"END"}, []int32{0, 1, 2}, []string{"x", " ", ""}, true},
		{"held text turns out harmless", []string{"END"}, []int32{1, 3, 0}, []string{" ", "Ez", "x"}, false},
		{"within one token", []string{"ND"}, []int32{4}, []string{"E"}, true},
		{"token by token", []string{"END"}, []int32{5, 6}, []string{"", ""}, true},
		{"the earliest of several", []string{"z", "Dz", "xx"}, []int32{6, 3}, []string{"", ""}, true},
		{"restarts within held text", []string{"aab"}, []int32{7}, []string{""}, true},
		{"nothing to stop at", nil, []int32{0, 4}, []string{"x", "END"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := &text{stream: wordModel(t, pieces...).NewStream(true), stops: c.stops}
			var shown []string
			stopped := false
			for _, id := range c.ids {
				var s string
				s, stopped = w.add(id)
				shown = append(shown, s)
			}
			if !slices.Equal(shown, c.shown) || stopped != c.stopped {
				t.Errorf("shown %q, stopped %v; want %q, %v", shown, stopped, c.shown, c.stopped)
			}
		})
	}
}

// What may have begun a stop text comes out at the end.
func TestFlushGivesHeldText(t *testing.T) {
	w := &text{stream: wordModel(t, "a", "EN").NewStream(true), stops: []string{"END"}}
	first, _ := w.add(0)
	second, _ := w.add(1)
	if got := []string{first, second, w.flush()}; !slices.Equal(got, []string{"a", "", "EN"}) || w.all.String() != "aEN" {
		t.Errorf("%q, all %q", got, w.all.String())
	}
}

// A stop text cuts the text, keeps the token that completes it, and leaves the
// sequence as if no more had been sampled.
func TestStopTextEndsGeneration(t *testing.T) {
	m := tinyModelNamed(t, "llama-group3-untied")
	run := m.Runs[1]
	prompt, greedy := run.IDs[:run.Prompt], run.IDs[run.Prompt:]
	dir := m.folder(t)
	writeTokenizer(t, dir, 151)
	e, err := Open(t.Context(), dir, Options{})
	check(t, err)
	defer func() { check(t, e.Close()) }()

	// The text of token i is <i>; stop in the middle of the fifth one's.
	name := func(id int32) string { return "<" + string('À'+id) + ">" }
	at := slices.Index(greedy, greedy[4])
	stop := name(greedy[4])[:3]
	s, err := e.NewSequence(prompt)
	check(t, err)
	defer s.Close()
	var emitted strings.Builder
	g, err := s.Generate(t.Context(), Params{Stop: []string{stop}, MaxTokens: 40, IgnoreEOS: true, LogProbs: true}, func(k Token) {
		emitted.WriteString(k.Text)
	})
	check(t, err)
	want := ""
	for _, id := range greedy[:at] {
		want += name(id)
	}
	if g.Text != want || emitted.String() != want || g.Finish != FinishStop {
		t.Errorf("text %q, emitted %q, %q; want %q", g.Text, emitted.String(), g.Finish, want)
	}
	if !slices.Equal(g.IDs, greedy[:at+1]) || len(g.LogProbs) != at+1 || s.Len() != len(prompt)+at+1 {
		t.Errorf("ids %v, %d log-probabilities, length %d", g.IDs, len(g.LogProbs), s.Len())
	}
	rest, err := s.Generate(t.Context(), Params{MaxTokens: 5, IgnoreEOS: true}, nil)
	check(t, err)
	if !slices.Equal(rest.IDs, greedy[at+1:at+6]) {
		t.Errorf("going on: %v, want %v", rest.IDs, greedy[at+1:at+6])
	}
}

// writeTokenizer writes a tokenizer of n added tokens, <À>, <Á> and so on.
func writeTokenizer(t *testing.T, dir string, n int) {
	t.Helper()
	vocab := map[string]int{}
	var added []map[string]any
	for i := range n {
		content := "<" + string(rune('À'+i)) + ">"
		vocab[content] = i
		added = append(added, map[string]any{
			"id": i, "content": content, "single_word": false, "lstrip": false, "rstrip": false,
			"normalized": false, "special": false,
		})
	}
	data, err := json.Marshal(map[string]any{
		"version": "1.0", "added_tokens": added,
		"pre_tokenizer": map[string]any{"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true},
		"decoder":       map[string]any{"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true, "use_regex": true},
		"model":         map[string]any{"type": "BPE", "vocab": vocab, "merges": []string{}},
	})
	check(t, err)
	check(t, os.WriteFile(filepath.Join(dir, "tokenizer.json"), data, 0o600))
}
