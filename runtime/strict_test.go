package runtime

import (
	"slices"
	"testing"

	"github.com/coderl/cr/runtime/tensor/strict"
)

// The engine keeps the rules of the device seam: on a device that defers all
// work, copies nothing for free and refuses misuse, it computes what
// transformers computes, in company as alone.
func TestStrictDevice(t *testing.T) {
	for _, name := range []string{"qwen3-group4-bias-yarn", "llama-group7-llama3"} {
		m := tinyModelNamed(t, name)
		run := m.Runs[1]
		e := openTinyOn(t, strict.New(), m, Options{})
		prompt, want := run.IDs[:run.Prompt], run.IDs[run.Prompt:]
		g := generate(t, e, prompt, Params{MaxTokens: len(want), IgnoreEOS: true, LogProbs: true})
		if !slices.Equal(g.IDs, want) {
			t.Fatalf("%s: tokens\n%v, want\n%v", name, g.IDs, want)
		}
		compareLogProbs(t, g.LogProbs, run.Scores[run.Prompt-1:])
	}
}

func TestStrictDeviceInCompany(t *testing.T) {
	m := tinyModelNamed(t, "llama-group7-llama3")
	list := dialogues(97)[2:]
	var want []outcome
	for _, d := range list {
		want = append(want, d.run(t, openTinyOn(t, strict.New(), m, Options{})))
	}
	page := openTiny(t, m, Options{}).config.PageBytes()
	e := openTinyOn(t, strict.New(), m, Options{CacheBytes: 9 * page, PrefillChunk: 40})
	compareOutcomes(t, together(t, e, list), want)
	checkAllFree(t, e)
}
