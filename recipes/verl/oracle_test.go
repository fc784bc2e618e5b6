package verl_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coderl/cr/recipes/verl"
)

// pythons are the interpreters of CR_TEST_VERL, a path list, that have a verl of
// a known version; CR_TEST_PYTHON counts too. Tests that need none are skipped.
func pythons(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, python := range filepath.SplitList(os.Getenv("CR_TEST_VERL") + string(filepath.ListSeparator) + os.Getenv("CR_TEST_PYTHON")) {
		if python == "" {
			continue
		}
		out, err := exec.CommandContext(context.Background(), python, "-c",
			"import importlib.metadata as m; print(m.version('verl'))").Output()
		if err == nil {
			found[strings.TrimSpace(string(out))] = python
		}
	}
	if len(found) == 0 {
		t.Skip("set CR_TEST_VERL to Pythons with verl, colon between them: see docs/verl.md")
	}
	return found
}

// Hydra composes what is emitted, with the YAML of the real package.
func TestHydraComposesEveryPlan(t *testing.T) {
	for version, python := range pythons(t) {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			o := verl.Options{Version: version}
			var plans []verl.Plan
			for _, settings := range [][]string{
				nil,
				{"model.lora.rank=8", "optim.eps=1e-6", "data.over_long=truncate", "train.steps=7", "train.keep=2", "verl.nodes=2", "verl.device=cuda"},
			} {
				plan, err := verl.SFT(loadSFT(t, "toolcall-sft", settings...), o)
				if err != nil {
					t.Fatal(err)
				}
				plans = append(plans, plan)
			}
			for _, settings := range [][]string{
				nil,
				{"spec.method=suffix"},
				{"spec.method=eagle3", "spec.draft=hub:AngelSlim/Qwen3-1.7B_eagle3"},
				{"tools.enable=false", "reward.bonus=0.005", "grpo.kl_coef=0", "verl.nodes=4", "train.keep=3", "train.steps=9", "validate.every=0"},
				{`verl.experiment=it's \ "odd" \'=,{x}[y]: $z \${trainer.nnodes}`, "train.out=2024", "model.lora.rank=8", "optim.eps=1e-6", "verl.strategy=fsdp2"},
			} {
				plan, err := verl.RL(loadRL(t, "code-rl", settings...), o)
				if err != nil {
					t.Fatal(err)
				}
				plans = append(plans, plan)
			}
			for _, plan := range plans {
				composed, err := plan.Compose(context.Background(), python)
				if err != nil {
					t.Errorf("%s: %v", plan.Config, err)
					continue
				}
				checkComposed(t, python, plan, composed)
			}
		})
	}
}

// checkComposed holds what Hydra made of a plan to what the overrides say, read
// back as YAML, which knows nothing of our quoting.
func checkComposed(t *testing.T, python string, plan verl.Plan, composed []byte) {
	t.Helper()
	const reader = `
import functools, sys, yaml
cfg = yaml.safe_load(sys.stdin)
for key in sys.argv[1:]:
    print(repr(functools.reduce(dict.get, key.split("."), cfg)))`
	cmd := exec.CommandContext(context.Background(), python, "-c", reader,
		"trainer.experiment_name", "trainer.default_local_dir", "trainer.device")
	cmd.Stdin = strings.NewReader(string(composed))
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Split(strings.TrimSpace(string(out)), "\n")
	if strings.Contains(got[0], "odd") {
		if got[0] != `'it\'s \\ "odd" \\\'=,{x}[y]: $z \\${trainer.nnodes}'` || got[1] != "'2024'" {
			t.Errorf("experiment %s, folder %s", got[0], got[1])
		}
	}
	if want := "'" + plan.Device + "'"; got[2] != want {
		t.Errorf("device %s, want %s", got[2], want)
	}
}

func TestComposeSaysWhatIsWrong(t *testing.T) {
	for version, python := range pythons(t) {
		plan, err := verl.RL(loadRL(t, "code-rl"), verl.Options{Version: version})
		if err != nil {
			t.Fatal(err)
		}
		plan.Overrides = append(plan.Overrides, verl.Override{Key: "trainer.nothing", Value: 1})
		if _, err := plan.Compose(context.Background(), python); err == nil || !strings.Contains(err.Error(), "nothing") {
			t.Errorf("unknown key: %v", err)
		}
		plan.Version = "0.0.1"
		if _, err := plan.Compose(context.Background(), python); err == nil || !strings.Contains(err.Error(), "the plan is for 0.0.1") {
			t.Errorf("other version: %v", err)
		}
	}
}

// The committed tables are what keys.py makes of the wheels in CR_TEST_VERL_WHEELS.
func TestKeysAreThoseOfTheWheels(t *testing.T) {
	dir := os.Getenv("CR_TEST_VERL_WHEELS")
	if dir == "" {
		t.Skip("set CR_TEST_VERL_WHEELS to a folder of verl's wheels")
	}
	wheels, err := filepath.Glob(filepath.Join(dir, "verl-*.whl"))
	if err != nil || len(wheels) == 0 {
		t.Fatalf("no wheels in %s (%v)", dir, err)
	}
	for _, python := range pythons(t) {
		out := t.TempDir()
		args := append([]string{"keys/keys.py", out}, wheels...)
		if text, err := exec.CommandContext(context.Background(), python, args...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		made, err := filepath.Glob(filepath.Join(out, "*.keys"))
		if err != nil || len(made) != len(wheels) {
			t.Fatalf("%d tables of %d wheels (%v)", len(made), len(wheels), err)
		}
		for _, file := range made {
			got, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			want, err := os.ReadFile(filepath.Join("keys", filepath.Base(file)))
			if err != nil || string(got) != string(want) {
				t.Errorf("%s differs from the committed one (%v)", filepath.Base(file), err)
			}
		}
		return
	}
}
