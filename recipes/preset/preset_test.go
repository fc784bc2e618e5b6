package preset

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// The published script and the defaults of verl c651b7b's sft_trainer.yaml.
func TestToolcallSFT(t *testing.T) {
	r, err := LoadSFT("toolcall-sft", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Check(); err != nil {
		t.Error(err)
	}
	for _, c := range []struct {
		name      string
		got, want any
	}{
		{"lr", r.Optim.LR, 1e-5},
		{"betas", r.Optim.Betas, []float64{0.9, 0.95}},
		{"eps", r.Optim.Eps, 1e-8},
		{"weight decay", r.Optim.WeightDecay, 0.01},
		{"clip", r.Optim.Clip, 1.0},
		{"schedule", r.Optim.Schedule, "cosine"},
		{"warm-up", r.Optim.Warmup, 0.1},
		{"batch", r.Batch.Size, 32},
		{"micro-batch", r.Batch.Micro, 8},
		{"ranks", r.Verl.Ranks(), 2},
		{"max length", r.Data.MaxLength, 16384},
		{"over-long", r.Data.OverLong, "error"},
		{"messages", r.Data.MessagesKey, "messages"},
		{"tools", r.Data.ToolsKey, "tools"},
		{"epochs", r.Train.Epochs, 20},
		{"save", r.Train.SaveEvery, 50},
		{"validate", r.Train.ValidateEvery, 0},
		{"keep", r.Train.Keep, 0},
		{"LoRA", r.Model.LoRA.Rank, 0},
		{"model", r.Model.Path, "hub:Qwen/Qwen3-1.7B"},
		{"checkpointing", r.Model.Checkpointing, true},
	} {
		if !reflect.DeepEqual(c.got, c.want) {
			t.Errorf("%s is %v, want %v", c.name, c.got, c.want)
		}
	}
}

func TestTinySFT(t *testing.T) {
	r, err := LoadSFT("tiny-sft", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Check(); err != nil {
		t.Error(err)
	}
}

// What is printed reads back as the same recipe.
func TestYAMLReadsBack(t *testing.T) {
	for _, name := range []string{"toolcall-sft", "tiny-sft"} {
		r, err := LoadSFT(name, []string{"optim.lr=1e-5", "data.train=a: b #c", "seed=18446744073709551615"})
		if err != nil {
			t.Fatal(err)
		}
		text, err := YAML(r)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "r.yaml")
		if err := os.WriteFile(file, text, 0o644); err != nil {
			t.Fatal(err)
		}
		back, err := LoadSFT(file, nil)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if !reflect.DeepEqual(r, back) {
			t.Errorf("read back as %+v, want %+v\n%s", back, r, text)
		}
	}
}

func TestSettings(t *testing.T) {
	for setting, want := range map[string]string{
		"optim.lr=0.5":                "",
		"optim.lr=1e-3":               "",
		"optim.lr=3":                  "",
		"optim.betas=[0.8, 0.99]":     "",
		"model.lora.targets=[q_proj]": "",
		"model.new.hidden=64":         "",
		"model.path=/a b/c:d":         "",
		"data.shuffle=false":          "",
		"train.steps=20":              "",

		"optim.lr":                    "want key=value",
		"optim.l=1":                   "no key optim.l: did you mean optim.lr?",
		"optm.lr=1":                   "no key optm: did you mean optim?",
		"zzzzzzzz=1":                  "no key zzzzzzzz: a recipe has kind, model, data, batch, loss, optim, train, seed, verl",
		"optim.lr.x=1":                "no key optim.lr.x: optim.lr has no keys below it",
		"optim=1":                     "optim is a section",
		"optim.lr=fast":               "optim.lr is fast: want number, at least 0, at most 10",
		"optim.lr=":                   "optim.lr is empty: want number",
		"optim.lr=.nan":               "want number",
		"optim.betas=[0.9]":           "want list of numbers, at least 0, below 1, 2 of them",
		"optim.betas=0.9":             "want list of numbers",
		"train.steps=1.5":             "want whole number",
		"train.steps=-1":              "want whole number, at least 0",
		"train.steps=99999999999":     "at most 1000000000",
		"train.steps=010":             "train.steps is 010: write it without leading zeros",
		"optim.clip=-010":             "without leading zeros",
		"optim.betas=[0_1, 0.9]":      "without leading zeros",
		"train.steps=0":               "",
		"optim.clip=0.5":              "",
		"train.out=010":               "",
		"seed=-1":                     "want whole number",
		"data.over_long=cut":          "data.over_long is cut: want one of error, drop, truncate",
		"data.shuffle=1":              "want true or false",
		"model.lora.targets=[q_prj]":  "q_proj, k_proj",
		"model.lora.targets=[{a: b}]": "q_proj, k_proj",
		"optim.lr={a: [":              "optim.lr is {a: [: want number",
	} {
		_, err := LoadSFT("toolcall-sft", []string{setting})
		switch {
		case want == "" && err != nil:
			t.Errorf("--set %s: %v", setting, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("--set %s: error %v, want %q", setting, err, want)
		case err != nil && strings.ContainsAny(err.Error(), "\n"):
			t.Errorf("--set %s: several lines: %v", setting, err)
		}
	}
}

func TestUserFiles(t *testing.T) {
	for text, want := range map[string]string{
		"kind: sft\nmodel: {path: m}\n":            "",
		"kind: sft\noptim:\n  lrr: 1\n":            "line 3: no key optim.lrr: did you mean optim.lr?",
		"kind: sft\noptim:\n  lr: x\n":             "line 3: optim.lr is x: want number",
		"kind: sft\nseed: 1\nseed: 2\n":            "line 3: ",
		"kind: sft\nseed: 010\n":                   "line 2: seed is 010: write it without leading zeros",
		"kind: sft\noptim: 3\n":                    "line 2: want keys of optim, lr, betas",
		"kind: rl\n":                               "of kind rl, not sft",
		"seed: 1\n":                                "no key kind: write kind: sft",
		"":                                         "it holds no keys",
		"kind: sft\n---\nkind: sft\n":              "2 YAML documents",
		"kind: " + strings.Repeat("[", 20):         "line 1: nested too deeply",
		strings.Repeat("- ", 40):                   "line 1: nested too deeply",
		"kind: [\n":                                "line ",
		"- a\n":                                    "line 1: want keys of a recipe, kind, model",
		"kind: sft\nmodel: {new: {hidden: big}}":   "line 2: model.new.hidden is big: want whole number",
		"kind: sft\nmodel: &m {path: a}\ndata: *m": "line 2: want keys of model",
	} {
		file := filepath.Join(t.TempDir(), "r.yaml")
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := LoadSFT(file, nil)
		switch {
		case want == "" && err != nil:
			t.Errorf("%q: %v", text, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%q: error %v, want %q", text, err, want)
		}
	}
	if _, err := LoadSFT("toolcal-sft", nil); err == nil || !strings.Contains(err.Error(), "did you mean toolcall-sft?") {
		t.Errorf("a wrong name gives %v", err)
	}
}

// A setting stands on no line of a file.
func TestSettingsNameNoLine(t *testing.T) {
	for _, setting := range []string{"batch.size=0", "model.lora.targets=[q_prj]", "optim.betas=[0.9]"} {
		if _, err := LoadSFT("toolcall-sft", []string{setting}); err == nil || strings.Contains(err.Error(), "line") {
			t.Errorf("--set %s: error %v", setting, err)
		}
	}
}

// What no run could begin with is refused before a run folder is made.
func TestCheck(t *testing.T) {
	for setting, want := range map[string]string{
		"model.lora.targets=[]":                       "model.lora.targets is empty",
		"model.lora.targets=[q_proj, v_proj, q_proj]": "model.lora.targets names q_proj twice",
		"train.out=":                  "train.out is empty",
		"data.train=":                 "data.train is empty",
		"model.path=":                 "model.path is empty",
		"model.new.tokenizer=t":       "both set",
		"train.patience=2":            "train.validate_every",
		"train.validate_every=1":      "",
		"model.lora.targets=[q_proj]": "",
	} {
		r, err := LoadSFT("toolcall-sft", []string{"model.lora.rank=2", setting})
		if err != nil {
			t.Fatal(err)
		}
		err = r.Check()
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("--set %s: error %v, want %q", setting, err, want)
		}
	}
}

func TestChanges(t *testing.T) {
	old, err := LoadSFT("tiny-sft", nil)
	if err != nil {
		t.Fatal(err)
	}
	now, err := LoadSFT("tiny-sft", []string{"train.keep=7", "train.out=elsewhere", "model.new.ffn=8", "optim.betas=[0.9, 0.9]"})
	if err != nil {
		t.Fatal(err)
	}
	want := []Change{{"model.new.ffn", "512", "8"}, {"optim.betas", "[0.9 0.95]", "[0.9 0.9]"}}
	if got := Changes(old, now); !reflect.DeepEqual(got, want) {
		t.Errorf("changes %v, want %v", got, want)
	}
}

// Every key is documented, and its default is one that the key takes.
func TestFieldsAreDocumented(t *testing.T) {
	for _, f := range Fields(SFT{}) {
		if f.Doc == "" {
			t.Errorf("%s has no words", f.Key)
		}
	}
}

func FuzzRecipe(f *testing.F) {
	f.Add([]byte("kind: sft\nmodel: {path: m}\n"))
	f.Add([]byte("kind: sft\noptim:\n  betas: [0.9, 1e-5]\n"))
	f.Add([]byte("a: &x [*x]\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		var r SFT
		root, err := parse(text)
		if err != nil {
			return
		}
		_ = decodeSection(root, reflect.ValueOf(&r).Elem(), "")
	})
}
