package grpo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coderl/cr/datasets"
	"github.com/coderl/cr/eval"
	"github.com/coderl/cr/recipes/checkpoint"
	"github.com/coderl/cr/recipes/examples"
	"github.com/coderl/cr/recipes/preset"
	"github.com/coderl/cr/recipes/reward"
	"github.com/coderl/cr/recipes/sft"
	"github.com/coderl/cr/runtime/chat"
	"github.com/coderl/cr/runtime/train"
	"github.com/coderl/cr/sandbox"
)

// childEnv has the test binary do one run, which the parent kills.
const childEnv = "CR_GRPO_TEST_RUN"

func TestMain(m *testing.M) {
	if job := os.Getenv(childEnv); job != "" {
		os.Exit(child(job))
	}
	os.Exit(m.Run())
}

// setup is what a test run is made from.
type setup struct {
	Model, Out string
	Settings   []string
}

// child runs a setup given as JSON.
func child(job string) int {
	var s setup
	err := json.Unmarshal([]byte(job), &s)
	if err == nil {
		var c Config
		if c, err = s.config(); err == nil {
			c.Resume = true
			_, err = Run(context.Background(), c)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// config makes a run's configuration.
func (s setup) config() (Config, error) {
	r, err := preset.LoadRL("tiny-rl", append([]string{
		"model.path=" + s.Model, "train.out=" + s.Out, "data.validation=bundled", "validate.before=false", "validate.n=1",
		"rollout.prompts=4", "rollout.group=3", "rollout.max_response=12", "batch.mini=2", "batch.tokens=300",
		"train.steps=4", "train.save_every=1", "train.keep=1", "optim.lr=0.01", "reward.wait=30", "grpo.uniform=keep",
	}, s.Settings...))
	if err != nil {
		return Config{}, err
	}
	if err := r.Check(); err != nil {
		return Config{}, err
	}
	practice, err := datasets.Shipped("tiny-heldout")
	if err != nil {
		return Config{}, err
	}
	practice.Problems = practice.Problems[:9]
	validation, err := datasets.Bundled()
	if err != nil {
		return Config{}, err
	}
	validation.Problems = validation.Problems[:3]
	options := train.Options{
		Threads: 2, Checkpointing: r.Model.Checkpointing, ClipNorm: r.Optim.Clip, Seed: r.Seed, Save: "f32",
		AdamW: train.AdamW{Beta1: r.Optim.Betas[0], Beta2: r.Optim.Betas[1], Eps: r.Optim.Eps, WeightDecay: r.Optim.WeightDecay},
	}
	if r.Model.LoRA.Rank > 0 {
		options.LoRA = &train.LoRA{Rank: r.Model.LoRA.Rank, Alpha: r.Model.LoRA.Alpha, Targets: r.Model.LoRA.Targets}
	}
	return Config{
		Recipe: r, Version: "test", Threads: 2, Train: practice, Validation: validation, Executor: fakeExecutor{},
		Concurrency: 12, CacheBytes: 32 << 20, Console: io.Discard,
		Open: func(ctx context.Context, from string) (*train.Trainer, error) {
			t, err := train.Open(ctx, s.Model, options)
			if err == nil && from != "" {
				err = t.Restore(from)
			}
			return t, err
		},
		Reference: func(ctx context.Context) (*train.Trainer, error) {
			return train.Open(ctx, s.Model, train.Options{Threads: 2, Frozen: true})
		},
	}, nil
}

// fakeExecutor runs nothing: every program prints nothing.
type fakeExecutor struct{ sandbox.Executor }

func (fakeExecutor) Run(context.Context, sandbox.Job) (sandbox.Result, error) {
	return sandbox.Result{Status: sandbox.OK}, nil
}
func (fakeExecutor) Isolation() sandbox.Isolation { return sandbox.Isolation{Tier: "T0"} }

// newModel saves a small random model with the shipped model's tokenizer.
func newModel(t *testing.T) string {
	t.Helper()
	const tokenizer = "../tiny/model"
	text, err := examples.OpenModel(tokenizer)
	check(t, err)
	shape := preset.NewModel{
		Arch: "qwen3", Hidden: 32, Layers: 2, Heads: 4, KVHeads: 2, HeadDim: 8, FFN: 48, Context: 512,
		RopeTheta: 10000, NormEps: 1e-6, TieEmbeddings: true,
	}
	fresh, dir := t.TempDir(), filepath.Join(t.TempDir(), "model")
	check(t, sft.WriteNewModel(fresh, shape, tokenizer, text))
	check(t, text.Close())
	trainer, err := train.Open(t.Context(), fresh, train.Options{Threads: 2, Scratch: true, Seed: 3})
	check(t, err)
	check(t, os.Mkdir(dir, 0o755))
	check(t, trainer.Save(dir))
	check(t, trainer.Close())
	return dir
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// hashReward is a reward of one's own: an answer is worth what the hash of its
// conversation says, in quarters. fail may answer in its place.
func hashReward(t *testing.T, fail func(w http.ResponseWriter) bool) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if fail != nil && fail(w) {
			return
		}
		var r reward.Request
		if err := json.NewDecoder(req.Body).Decode(&r); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		h := fnv.New32a()
		_ = json.NewEncoder(h).Encode(r.Messages)
		fmt.Fprintf(w, `{"score": %v, "metrics": {"length": %d}}`, float64(h.Sum32()%5)/4, len(r.Messages))
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func runOf(t *testing.T, s setup) (Config, Result) {
	t.Helper()
	c, err := s.config()
	check(t, err)
	result, err := Run(t.Context(), c)
	check(t, err)
	return c, result
}

// leaves are the files of a run that two equal runs agree in.
func leaves(t *testing.T, out string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	err := filepath.WalkDir(out, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, _ := filepath.Rel(out, path)
		switch first, _, _ := strings.Cut(name, string(filepath.Separator)); first {
		case "tensorboard", "timing.jsonl", "run.lock", checkpoint.RecipeFile:
			return nil
		}
		if strings.HasPrefix(name, "eval") && filepath.Base(name) != "samples.jsonl" && filepath.Base(name) != "results.json" {
			return nil
		}
		files[name] = read(t, path)
		return nil
	})
	check(t, err)
	return files
}

func sameLeaves(t *testing.T, got, want string) {
	t.Helper()
	a, b := leaves(t, got), leaves(t, want)
	for name := range b {
		if !bytes.Equal(a[name], b[name]) {
			t.Errorf("%s differs: %d bytes, %d in the undisturbed run", name, len(a[name]), len(b[name]))
		}
	}
	for name := range a {
		if b[name] == nil {
			t.Errorf("%s is in one run only", name)
		}
	}
}

// A run killed by SIGKILL at random moments ends with the undisturbed run's
// weights, optimiser, metrics, answers and evaluations.
func TestKilledRunEndsTheSame(t *testing.T) {
	s := setup{Model: newModel(t), Settings: []string{
		"reward.own=" + hashReward(t, nil), "validate.every=2", "grpo.kl_coef=0.01", "batch.epochs=2", "train.steps=6",
	}}
	whole := s
	whole.Out = filepath.Join(t.TempDir(), "whole")
	began := time.Now()
	runOf(t, whole)
	took := time.Since(began)

	broken := s
	broken.Out = filepath.Join(t.TempDir(), "broken")
	job, err := json.Marshal(broken)
	check(t, err)
	killed, reached := 0, 0
	for n := 0; n < 12 && reached < 3; n++ {
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env, cmd.Stderr = append(os.Environ(), childEnv+"="+string(job)), os.Stderr
		check(t, cmd.Start())
		time.Sleep(took * time.Duration(3+n%5) / 8)
		_ = cmd.Process.Kill() // it may have ended
		if cmd.Wait() != nil {
			killed++
		}
		reached = latest(t, broken.Out)
	}
	if killed == 0 || reached == 0 {
		t.Errorf("%d processes were killed before their end, the last after step %d", killed, reached)
	}
	c, err := broken.config()
	check(t, err)
	c.Resume = true
	_, err = Run(t.Context(), c)
	check(t, err)
	sameLeaves(t, broken.Out, whole.Out)
}

// latest is the step of a run's newest checkpoint.
func latest(t *testing.T, out string) int {
	t.Helper()
	f, err := checkpoint.Open(out)
	check(t, err)
	defer f.Close()
	n, err := f.Latest()
	check(t, err)
	return n
}

// Stopped at any stage by its context, a run goes on to the same end; so does
// one that was told to stop early.
func TestInterruptedRunEndsTheSame(t *testing.T) {
	s := setup{Model: newModel(t), Settings: []string{"reward.own=" + hashReward(t, nil), "validate.every=2", "train.save_every=0", "train.steps=3"}}
	whole := s
	whole.Out = filepath.Join(t.TempDir(), "whole")
	runOf(t, whole)
	for _, stage := range []string{"generate", "update", "validate"} {
		t.Run(stage, func(t *testing.T) {
			broken := s
			broken.Out = filepath.Join(t.TempDir(), "broken")
			c, err := broken.config()
			check(t, err)
			ctx, cancel := context.WithCancel(t.Context())
			c.Progress = func(p Progress) {
				if p.Step >= 1 && p.Stage == stage {
					cancel()
				}
			}
			if _, err := Run(ctx, c); !errors.Is(err, checkpoint.ErrInterrupted) {
				t.Fatalf("interrupted in %s: %v", stage, err)
			}
			c.Progress, c.Resume = nil, true
			_, err = Run(t.Context(), c)
			check(t, err)
			a, b := leaves(t, broken.Out), leaves(t, whole.Out)
			for _, name := range []string{"metrics.jsonl", "rollouts/3.jsonl", "global_step_3/model.safetensors", "global_step_3/optimizer.safetensors", "eval/global_step_2/samples.jsonl"} {
				if !bytes.Equal(a[name], b[name]) || b[name] == nil {
					t.Errorf("%s differs from the undisturbed run's", name)
				}
			}
		})
	}
}

// A judge that is away, refuses with 503, or drops connections changes nothing
// but the time: no answer is scored without it.
func TestOutageOfTheJudgeChangesNothing(t *testing.T) {
	model := newModel(t)
	settings := func(url string) []string { return []string{"reward.own=" + url, "train.steps=2"} }
	whole := setup{Model: model, Out: filepath.Join(t.TempDir(), "whole"), Settings: settings(hashReward(t, nil))}
	runOf(t, whole)

	var asked atomic.Int64
	url := hashReward(t, func(w http.ResponseWriter) bool {
		switch n := asked.Add(1); {
		case n%7 == 3:
			http.Error(w, "busy", http.StatusServiceUnavailable)
			return true
		case n%11 == 5:
			panic(http.ErrAbortHandler) // the connection breaks
		}
		return false
	})
	broken := setup{Model: model, Out: filepath.Join(t.TempDir(), "broken"), Settings: settings(url)}
	runOf(t, broken)
	sameLeaves(t, broken.Out, whole.Out)
}

// failingExecutor fails for good, or only at first.
type failingExecutor struct {
	fakeExecutor
	left atomic.Int64
}

func (f *failingExecutor) Run(ctx context.Context, job sandbox.Job) (sandbox.Result, error) {
	if f.left.Add(-1) >= 0 {
		return sandbox.Result{}, errors.New("the sandbox is away")
	}
	return f.fakeExecutor.Run(ctx, job)
}

// scoreAll scores made-up answers, of which every one holds a program, by the
// tests of a problem.
func scoreAll(t *testing.T, exec sandbox.Executor, wait time.Duration, settings ...string) ([]*sample, error) {
	t.Helper()
	r, err := preset.LoadRL("tiny-rl", append([]string{"rollout.group=4"}, settings...))
	check(t, err)
	set, err := datasets.Bundled()
	check(t, err)
	patience := reward.NewPatience(wait, nil)
	patience.Step = time.Millisecond
	j := newJudge(patience.Executor(exec))
	s := sampler{
		recipe: r, endpoint: scriptedEndpoint{}, scorer: reward.New(r.Reward, j, patience),
		concurrency: 4, judges: 2, tell: func(int, int, *sample) {},
	}
	all, _, err := s.sample(t.Context(), set.Problems[:2], 0, 0)
	return all, err
}

// A sandbox that comes back within the wait leaves no trace; one that does not
// is what reward.infra says, and never a score of nought by itself.
func TestSandboxAway(t *testing.T) {
	back := &failingExecutor{}
	back.left.Store(20)
	all, err := scoreAll(t, back, time.Minute)
	check(t, err)
	for _, s := range all {
		if s.failure != nil || s.score.Verdict != sandbox.WA || s.fate != learnt {
			t.Errorf("an answer judged after the wait: %+v %v", s.score, s.failure)
		}
	}
	gone := func() sandbox.Executor {
		f := &failingExecutor{}
		f.left.Store(1 << 40)
		return f
	}
	all, err = scoreAll(t, gone(), 0, "reward.infra=drop")
	check(t, err)
	for _, s := range all {
		if s.failure == nil || s.fate != dropped {
			t.Errorf("an answer that was never judged stays: %+v", s.score)
		}
	}
	if n := len(rewardsOf(all)); n > 0 {
		t.Errorf("%d answers that were never judged have a reward", n)
	}
	all, err = scoreAll(t, gone(), 0, "reward.infra=zero")
	check(t, err)
	for _, s := range all {
		if s.failure == nil || s.score.Reward != 0 || s.score.Verdict != sandbox.InfraError || len(rewardsOf(all)) != len(all) {
			t.Errorf("reward.infra zero: %+v, failure %v", s.score, s.failure)
		}
	}
	if _, err = scoreAll(t, gone(), 0, "reward.infra=stop"); err == nil || !strings.Contains(err.Error(), "the sandbox is away") {
		t.Errorf("reward.infra stop: %v", err)
	}
}

// After every update the engine samples from the new weights, with no key or
// value of the old ones left: what it says of a token is what the trainer says.
// The reference of LoRA is the model that the adapters were put on.
func TestSamplerFollowsTheWeights(t *testing.T) {
	model := newModel(t)
	for name, settings := range map[string][]string{
		"full": nil, "lora": {"model.lora.rank=4", "model.lora.alpha=16", "optim.lr=0.05", "batch.mini=4"},
	} {
		s := setup{Model: model, Out: filepath.Join(t.TempDir(), name), Settings: append([]string{
			"reward.own=" + hashReward(t, nil), "grpo.kl_coef=0.001", "train.save_every=0",
		}, settings...)}
		runOf(t, s)
		lines := parseLines[map[string]*float64](t, read(t, filepath.Join(s.Out, "metrics.jsonl")))
		for i, line := range lines {
			if drift := line["rollout_corr/log_prob_abs_diff_max"]; drift == nil || *drift > 2e-4 {
				t.Errorf("%s, step %d: the sampler is off by %v", name, i+1, *drift)
			}
		}
		// The first of LoRA's single updates has nothing to diverge from yet.
		if kl := *lines[0]["actor/kl_loss"]; name == "lora" && kl > 1e-9 {
			t.Errorf("%s: divergence %g before the first update", name, kl)
		}
		if kl := *lines[len(lines)-1]["actor/kl_loss"]; kl < 1e-3 {
			t.Errorf("%s: divergence %g after %d steps", name, kl, len(lines)-1)
		}
	}
}

// A reward that does not keep to the protocol ends the run at once.
func TestBrokenRewardEndsTheRun(t *testing.T) {
	url := hashReward(t, func(w http.ResponseWriter) bool { fmt.Fprint(w, `{"points": 1}`); return true })
	c, err := setup{Model: newModel(t), Out: t.TempDir(), Settings: []string{"reward.own=" + url}}.config()
	check(t, err)
	if _, err := Run(t.Context(), c); !errors.Is(err, reward.ErrBroken) {
		t.Fatalf("a reply without a score: %v", err)
	}
}

// Groups without variance stay, leave the loss, or make way for others.
func TestUniformGroups(t *testing.T) {
	model := newModel(t)
	same := hashReward(t, func(w http.ResponseWriter) bool { fmt.Fprint(w, `{"score": 1}`); return true })
	for policy, want := range map[string]string{"keep": `"actor/updates": 2`, "drop": `"actor/updates": 0`, "resample": fmt.Sprintf(`"reward/groups": %d`, 4*mostRounds)} {
		s := setup{Model: model, Out: filepath.Join(t.TempDir(), policy), Settings: []string{"reward.own=" + same, "grpo.uniform=" + policy, "train.steps=1"}}
		runOf(t, s)
		line := string(read(t, filepath.Join(s.Out, "metrics.jsonl")))
		if !strings.Contains(line, want) || policy != "resample" && !strings.Contains(line, `"critic/score/mean": 1.0`) {
			t.Errorf("grpo.uniform %s: want %s in %s", policy, want, line)
		}
	}
	mixed := setup{Model: model, Out: filepath.Join(t.TempDir(), "mixed"), Settings: []string{"reward.own=" + hashReward(t, nil), "grpo.uniform=resample", "train.steps=2"}}
	runOf(t, mixed)
	for n := 1; n <= 2; n++ {
		groups := map[string][]float64{}
		for _, line := range parseLines[rolloutLine](t, read(t, filepath.Join(mixed.Out, "rollouts", fmt.Sprintf("%d.jsonl", n)))) {
			groups[line.QuestionID] = append(groups[line.QuestionID], line.Reward)
		}
		if len(groups) != 4 {
			t.Errorf("step %d practises %d problems, want 4", n, len(groups))
		}
		for id, rewards := range groups {
			if len(slices.Compact(slices.Sorted(slices.Values(rewards)))) < 2 {
				t.Errorf("step %d: group %s has rewards %v", n, id, rewards)
			}
		}
	}
}

// Problems with long prompts are left out and counted, or named.
func TestFit(t *testing.T) {
	text, err := examples.OpenModel("../tiny/model")
	check(t, err)
	defer text.Close()
	set, err := datasets.Bundled()
	check(t, err)
	r, err := preset.LoadRL("tiny-rl", []string{"data.max_prompt=150"})
	check(t, err)
	fitted, left, err := Fit(t.Context(), set, text, r)
	check(t, err)
	if left == 0 || left+len(fitted.Problems) != len(set.Problems) {
		t.Errorf("%d of %d left out, %d stay", left, len(set.Problems), len(fitted.Problems))
	}
	for _, p := range fitted.Problems {
		if p.Limits.CPU == 0 {
			t.Errorf("%s has no time limit", p.ID)
		}
		prompt, err := text.Render(eval.Opening(p, true), nil, chat.RenderOptions{})
		check(t, err)
		if len(prompt.IDs) > 150 {
			t.Errorf("%s has %d tokens", p.ID, len(prompt.IDs))
		}
	}
	r.Data.OverLong = "error"
	if _, _, err := Fit(t.Context(), set, text, r); !errors.Is(err, ErrOverLong) {
		t.Errorf("data.over_long error: %v", err)
	}
}
