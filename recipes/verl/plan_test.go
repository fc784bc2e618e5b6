package verl_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/coderl/cr/recipes/preset"
	"github.com/coderl/cr/recipes/verl"
)

func loadSFT(t *testing.T, name string, settings ...string) preset.SFT {
	t.Helper()
	r, err := preset.LoadSFT(name, settings)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func loadRL(t *testing.T, name string, settings ...string) preset.RL {
	t.Helper()
	r, err := preset.LoadRL(name, settings)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// texts are a plan's overrides as Hydra reads them.
func texts(p verl.Plan) []string {
	var all []string
	for _, o := range p.Overrides {
		all = append(all, o.String())
	}
	return all
}

// The tables of the published scripts, section 1 of the specification: what is not
// set there is verl's default and may be repeated.
var (
	publishedSFT = []string{
		"ulysses_sequence_parallel_size=4", "use_remove_padding=True",
		"data.train_files=toolcall_sft.parquet", "data.val_files=toolcall_sft.parquet",
		"data.max_length=16384", "data.train_batch_size=32", "data.micro_batch_size_per_gpu=8",
		"data.multiturn.enable=True", "data.multiturn.messages_key=messages", "data.multiturn.tools_key=tools",
		"model.partial_pretrain=Qwen/Qwen3-1.7B", "model.strategy=fsdp",
		"trainer.default_local_dir=checkpoint/multiturn-toolcall-sft-qwen-3-1b",
		"trainer.project_name=code_toolcall_sft", "trainer.experiment_name=multiturn-toolcall-sft-qwen-3-1b",
		"trainer.logger=[console,tensorboard]", "trainer.total_epochs=20", "trainer.save_freq=50", "trainer.device=npu",
	}
	publishedRL = []string{
		"algorithm.adv_estimator=grpo", "reward_model.reward_manager=naive",
		"data.train_files=train.parquet", "data.val_files=validation.parquet",
		"data.train_batch_size=128", "data.max_prompt_length=2048", "data.max_response_length=16384",
		"data.filter_overlong_prompts=True", "data.truncation=error",
		"custom_reward_function.name=compute_score",
		"actor_rollout_ref.actor.optim.lr=1e-06", "actor_rollout_ref.model.use_remove_padding=True",
		"actor_rollout_ref.model.enable_gradient_checkpointing=True",
		"actor_rollout_ref.actor.use_dynamic_bsz=True", "actor_rollout_ref.actor.ppo_mini_batch_size=32",
		"actor_rollout_ref.actor.ppo_max_token_len_per_gpu=18432", "actor_rollout_ref.actor.use_kl_loss=True",
		"actor_rollout_ref.actor.kl_loss_coef=0.001", "actor_rollout_ref.actor.kl_loss_type=low_var_kl",
		"actor_rollout_ref.actor.clip_ratio=0.2", "actor_rollout_ref.actor.clip_ratio_high=0.28",
		"actor_rollout_ref.actor.fsdp_config.param_offload=True", "actor_rollout_ref.actor.fsdp_config.optimizer_offload=True",
		"actor_rollout_ref.ref.fsdp_config.param_offload=True",
		"actor_rollout_ref.actor.use_torch_compile=False", "actor_rollout_ref.ref.use_torch_compile=False",
		"actor_rollout_ref.rollout.name=vllm", "actor_rollout_ref.rollout.tensor_model_parallel_size=1",
		"actor_rollout_ref.rollout.gpu_memory_utilization=0.7",
		"actor_rollout_ref.rollout.max_num_batched_tokens=18432", "actor_rollout_ref.rollout.max_model_len=18432",
		"actor_rollout_ref.rollout.agent.num_workers=8", "actor_rollout_ref.rollout.agent.default_agent_loop=tool_agent",
		"actor_rollout_ref.rollout.multi_turn.enable=True", "actor_rollout_ref.rollout.multi_turn.max_user_turns=16",
		"actor_rollout_ref.rollout.multi_turn.max_assistant_turns=16", "actor_rollout_ref.rollout.multi_turn.format=hermes",
		"actor_rollout_ref.rollout.multi_turn.max_tool_response_length=256",
		"actor_rollout_ref.rollout.n=8", "actor_rollout_ref.rollout.temperature=0.9",
		"trainer.critic_warmup=0", "trainer.n_gpus_per_node=8", "trainer.nnodes=1",
		"trainer.save_freq=20", "trainer.test_freq=20", "trainer.total_epochs=15", "trainer.device=npu",
	}
)

func TestPublishedRecipes(t *testing.T) {
	sft, err := verl.SFT(loadSFT(t, "toolcall-sft"), verl.Options{Version: "0.7.0"})
	if err != nil {
		t.Fatal(err)
	}
	rl, err := verl.RL(loadRL(t, "code-rl"), verl.Options{Version: "0.7.0"})
	if err != nil {
		t.Fatal(err)
	}
	if sft.Module != "verl.trainer.fsdp_sft_trainer" || rl.Module != "verl.trainer.main_ppo" {
		t.Errorf("modules %s, %s", sft.Module, rl.Module)
	}
	for _, c := range []struct {
		plan verl.Plan
		want []string
	}{{sft, publishedSFT}, {rl, publishedRL}} {
		got := texts(c.plan)
		for _, want := range c.want {
			if !slices.Contains(got, want) {
				t.Errorf("%s: no %s", c.plan.Config, want)
			}
		}
	}
}

func TestNewestNames(t *testing.T) {
	sft, err := verl.SFT(loadSFT(t, "toolcall-sft"), verl.Options{Version: "0.9.1"})
	if err != nil {
		t.Fatal(err)
	}
	rl, err := verl.RL(loadRL(t, "code-rl", "reward.bonus=0.005"), verl.Options{Version: "0.9.1"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		plan verl.Plan
		want []string
		not  []string // beginnings
	}{
		{
			sft,
			[]string{
				"model.path=Qwen/Qwen3-1.7B", "data.messages_key=messages", "data.tools_key=tools", "engine.strategy=fsdp",
				"engine.ulysses_sequence_parallel_size=4", "model.use_remove_padding=True", "optim.lr=1e-05", "optim.betas=[0.9,0.95]",
				"optim.lr_warmup_steps_ratio=0.1", "optim.lr_scheduler_type=cosine", "data.ignore_input_ids_mismatch=True",
				"data.max_token_len_per_gpu=16384", "trainer.n_gpus_per_node=8",
			},
			[]string{"data.multiturn", "model.partial_pretrain", "model.strategy", "ulysses_", "use_remove"},
		},
		{
			rl,
			[]string{
				"reward.custom_reward_function.path=pkg://cr_verl.reward", "reward.custom_reward_function.name=compute_reward",
				"+reward.custom_reward_function.reward_kwargs.bonus=0.005", "reward.reward_manager.name=naive", "trainer.use_v1=True",
				"actor_rollout_ref.actor.optim.clip_grad=1.0", "actor_rollout_ref.actor.fsdp_config.use_torch_compile=False",
			},
			[]string{
				"custom_reward_function", "reward_model", "actor_rollout_ref.actor.grad_clip", "actor_rollout_ref.actor.use_torch_compile",
				"actor_rollout_ref.rollout.multi_turn.enable", "trainer.use_legacy_worker_impl",
			},
		},
	} {
		got := texts(c.plan)
		for _, want := range c.want {
			if !slices.Contains(got, want) {
				t.Errorf("%s: no %s", c.plan.Config, want)
			}
		}
		for _, not := range c.not {
			if i := slices.IndexFunc(got, func(s string) bool { return strings.HasPrefix(strings.TrimPrefix(s, "+"), not) }); i >= 0 {
				t.Errorf("%s: has %s", c.plan.Config, got[i])
			}
		}
	}
}

func TestSpeculationIsPassedThrough(t *testing.T) {
	r := loadRL(t, "code-rl", "spec.method=eagle3", "spec.tokens=3", "spec.draft=hub:AngelSlim/Qwen3-1.7B_eagle3")
	for _, version := range verl.Versions() {
		plan, err := verl.RL(r, verl.Options{Version: version})
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{
			"actor_rollout_ref.rollout.load_format=auto", "actor_rollout_ref.rollout.disable_log_stats=False",
			"+actor_rollout_ref.rollout.engine_kwargs.vllm={speculative_config:{method:eagle3,num_speculative_tokens:3,model:AngelSlim/Qwen3-1.7B_eagle3}}",
		} {
			if !slices.Contains(texts(plan), want) {
				t.Errorf("%s: no %s", version, want)
			}
		}
	}
}

func TestWrongKeysAreRefused(t *testing.T) {
	rl, sft := loadRL(t, "code-rl"), loadSFT(t, "toolcall-sft")
	for _, c := range []struct{ version, override, want string }{
		{"0.9.1", "custom_reward_function.path=x.py", "never reads it: it is reward.custom_reward_function.path there"},
		{"0.9.1", "reward_model.reward_manager=dapo", "never reads it: it is reward.reward_manager.name there"},
		{"0.9.1", "actor_rollout_ref.actor.grad_clip=0.5", "never reads it: it is actor_rollout_ref.actor.optim.clip_grad there"},
		{"0.9.1", "actor_rollout_ref.rollout.multi_turn.enable=True", "never reads it: it is actor_rollout_ref.rollout.agent.default_agent_loop there"},
		{"0.7.0", "reward.custom_reward_function.path=x.py", "no such key: it is custom_reward_function.path there"},
		{"0.8.0", "actor_rollout_ref.rollout.skip_rollout=True", "no such key: it is actor_rollout_ref.rollout.skip.enable there"},
		{"0.8.0", "trainer.use_legacy_worker_impl=disable", "no such key"},
		{"0.7.0", "actor_rollout_ref.rolout.n=4", "did you mean actor_rollout_ref.rollout.n?"},
		{"0.7.0", "trainer.save_frq=4", "did you mean trainer.save_freq?"},
		{"0.7.0", "actor_rollout_ref.rollout=4", "it is a section"},
		{"0.7.0", "+trainer.save_freq=4", "write it without +"},
		{"0.7.0", "+trainer.save_often=4", "no such key"},
		{"0.7.0", "custom_reward_function.reward_kwargs.timeout=4", "write +custom_reward_function.reward_kwargs.timeout"},
		{"0.6.9", "trainer.save_freq=4", "none of the versions known here, 0.7.0, 0.7.1, 0.8.0, 0.9.0, 0.9.1"},
	} {
		_, err := verl.RL(rl, verl.Options{Version: c.version, Overrides: []string{c.override}})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s: got %v, want %q", c.version, c.override, err, c.want)
		}
	}
	for _, c := range []struct{ version, override, want string }{
		{"0.9.1", "model.partial_pretrain=x", "no such key: it is model.path there"},
		{"0.9.1", "data.multiturn.tools_key=x", "no such key: it is data.tools_key there"},
		{"0.7.0", "model.path=x", "no such key: it is model.partial_pretrain there"},
		{"0.7.0", "trainer.seed=3", "never reads it"},
	} {
		_, err := verl.SFT(sft, verl.Options{Version: c.version, Overrides: []string{c.override}})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s: got %v, want %q", c.version, c.override, err, c.want)
		}
	}
}

func TestOwnOverridesReplace(t *testing.T) {
	plan, err := verl.RL(loadRL(t, "code-rl"), verl.Options{Version: "0.7.0", Overrides: []string{
		"trainer.total_epochs=2", "+actor_rollout_ref.rollout.engine_kwargs.vllm.seed=3", "++trainer.save_freq=7", "~data.seed",
	}})
	if err != nil {
		t.Fatal(err)
	}
	got := texts(plan)
	if n := len(got); !slices.Equal(got[n-4:], []string{
		"trainer.total_epochs=2", "+actor_rollout_ref.rollout.engine_kwargs.vllm.seed=3", "++trainer.save_freq=7", "~data.seed",
	}) {
		t.Errorf("last overrides %q", got[n-4:])
	}
	if slices.Contains(got, "trainer.total_epochs=15") {
		t.Error("the recipe's epochs stand beside the user's")
	}
}

func TestWhatVerlCannotDoIsRefused(t *testing.T) {
	for _, setting := range []string{"grpo.uniform=drop", "model.dtype=f32", "rollout.top_k=20"} {
		if _, err := verl.RL(loadRL(t, "code-rl", setting), verl.Options{Version: "0.7.0"}); !errors.Is(err, verl.ErrUnsupported) {
			t.Errorf("%s: got %v", setting, err)
		}
	}
	for _, setting := range []string{"data.over_long=drop", "data.thinking=strip", "optim.schedule=constant"} {
		if _, err := verl.SFT(loadSFT(t, "toolcall-sft", setting), verl.Options{Version: "0.7.0"}); !errors.Is(err, verl.ErrUnsupported) {
			t.Errorf("%s: got %v", setting, err)
		}
	}
	if _, err := verl.RL(loadRL(t, "code-rl", "grpo.uniform=resample"), verl.Options{Version: "0.9.1"}); err != nil {
		t.Errorf("resampling: %v", err)
	}
}

// What verl could not open, or would take for something else, is told before it
// is handed over.
func TestWhatVerlCannotReadIsRefused(t *testing.T) {
	for setting, want := range map[string]string{
		"data.train=rows.jsonl":              "data.train rows.jsonl: verl reads parquet files; name one that ends in .parquet",
		"data.train=tiny-practice":           "data.train tiny-practice: verl reads parquet files",
		"data.validation=hub:org/x.parquet":  "data.validation hub:org/x.parquet: verl reads parquet files",
		"model.path=model.Q4.GGUF":           "verl reads no GGUF",
		"model.path=hub:org/name@v1":         "cr download org/name --revision v1",
		"grpo.uniform=resample":              "grpo.uniform resample: verl has no counterpart in 0.8.0: it keeps such groups",
		"verl.experiment=a\nrm -rf /":        `a\nrm -rf /'": want one line without control characters`,
		"reward.sandbox=http://localhost\nx": "want one line without control characters",
	} {
		_, err := verl.RL(loadRL(t, "code-rl", setting, "verl.nodes=2"), verl.Options{Version: "0.8.0"})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got %v, want %q", setting, err, want)
		}
	}
}

// The script of the patches applies each once, changes nothing where one does not
// fit, and knows none of an earlier plan.
func TestPatches(t *testing.T) {
	if _, err := exec.LookPath("patch"); err != nil {
		t.Skip("no patch")
	}
	dir, site := t.TempDir(), t.TempDir()
	write := func(path, text string, mode os.FileMode) string {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	module := write(filepath.Join(site, "verl", "x.py"), "a = 1\nb = 2\n", 0o644)
	fits := write(filepath.Join(dir, "0001 it's a fix.patch"), "--- a/verl/x.py\n+++ b/verl/x.py\n@@ -1,2 +1,2 @@\n-a = 1\n+a = 3\n b = 2\n", 0o644)
	other := write(filepath.Join(dir, "0002.patch"), "--- a/verl/x.py\n+++ b/verl/x.py\n@@ -1,2 +1,2 @@\n a = 1\n-b = 7\n+b = 4\n", 0o644)
	write(filepath.Join(dir, "bin", "python3"), "#!/bin/sh\necho '"+site+"'\n", 0o755)
	bundle := filepath.Join(dir, "bundle")
	run := func(patches ...string) error {
		t.Helper()
		plan, err := verl.RL(loadRL(t, "code-rl"), verl.Options{Version: "0.7.0", Patches: patches})
		if err != nil {
			t.Fatal(err)
		}
		if err := plan.Write(bundle); err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), "bash", filepath.Join(bundle, "patch.sh"))
		cmd.Env = append(os.Environ(), "PATH="+filepath.Join(dir, "bin")+":"+os.Getenv("PATH"))
		out, err := cmd.CombinedOutput()
		if err != nil && !strings.Contains(string(out), "does not apply to the packages in "+site) {
			t.Errorf("%v: %s", err, out)
		}
		return err
	}
	if run(other) == nil {
		t.Error("a patch that does not fit is applied")
	}
	for range 2 {
		if err := run(fits); err != nil {
			t.Errorf("a patch that fits: %v", err)
		}
		if text, err := os.ReadFile(module); err != nil || string(text) != "a = 3\nb = 2\n" {
			t.Errorf("the module is %q, %v", text, err)
		}
	}
	left, err := filepath.Glob(filepath.Join(site, "verl", "*"))
	if err != nil || len(left) != 1 {
		t.Errorf("beside the module stand %v", left)
	}
}

// Shells read the script as it is meant: the words of the command, seen by a
// program in the launcher's place, are the overrides.
func TestScriptReachesTheTrainer(t *testing.T) {
	odd := `it's $HOME "x" \ {a}`
	plan, err := verl.RL(loadRL(t, "code-rl", "verl.experiment="+odd), verl.Options{Version: "0.9.1"})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := plan.Write(dir); err != nil {
		t.Fatal(err)
	}
	stub := filepath.Join(dir, "bin", "python3")
	if err := os.MkdirAll(filepath.Dir(stub), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(stub, []byte("#!/bin/sh\nprintf '%s\\n' \"$@\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(context.Background(), "bash", filepath.Join(dir, "run.sh"), "trainer.val_only=True")
	cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(stub)+":"+os.Getenv("PATH"))
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	want := append([]string{"-m", "verl.trainer.main_ppo"}, append(texts(plan), "trainer.val_only=True")...)
	if got := strings.Split(strings.TrimRight(string(out), "\n"), "\n"); !slices.Equal(got, want) {
		t.Errorf("the trainer gets\n%q\nwant\n%q", got, want)
	}
}
