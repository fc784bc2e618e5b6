package verl

import (
	"strings"

	"github.com/coderl/cr/recipes/preset"
)

const ppo = "ppo_trainer"

// Sections of ppo_trainer.
const (
	actor   = "actor_rollout_ref.actor."
	ref     = "actor_rollout_ref.ref."
	rollout = "actor_rollout_ref.rollout."
	policy  = "actor_rollout_ref.model."
)

// toolConfig is the tool configuration's name in the bundle; Ray runs all workers
// in the bundle's folder.
const toolConfig = "tool_config.yaml"

func (b *builder) rl(r preset.RL) {
	b.plan.Config, b.plan.Module = ppo, "verl.trainer.main_ppo"
	b.plan.Launcher = []string{"python3", "-m"}
	b.rlLimits(r)
	b.rlEnv(r.Verl)
	b.set("grpo", "algorithm.adv_estimator")
	b.set(r.GRPO.NormByStd, "algorithm.norm_adv_by_std_in_grpo")
	b.set(false, "algorithm.use_kl_in_reward")
	if r.GRPO.Uniform == "resample" {
		b.set(true, "algorithm.filter_groups.enable")
	}
	b.rlData(r)
	b.rlPolicy(r)
	b.rlActor(r)
	b.rlRollout(r)
	b.rlTools(r)
	b.rlReward(r)
	b.rlSpec(r.Spec)
	b.rlTrainer(r)
}

// rlLimits refuses what no verl trainer can be told.
func (b *builder) rlLimits(r preset.RL) {
	switch {
	case r.Model.DType != "bf16":
		b.fail("model.dtype %s: %w: it computes in bf16; set that", r.Model.DType, ErrUnsupported)
	case r.GRPO.Uniform == "drop":
		b.fail("grpo.uniform drop: %w: it can keep such groups, or resample them since 0.9.0", ErrUnsupported)
	case r.GRPO.Uniform == "resample" && !b.keys.reads(ppo, "algorithm.filter_groups.enable"):
		b.fail("grpo.uniform resample: %w in %s: it keeps such groups, and can resample them since 0.9.0", ErrUnsupported, b.plan.Version)
	case r.Reward.Own != "" || r.Reward.Format > 0 || r.Reward.Truncated != "keep":
		b.fail("reward.own, reward.format and reward.truncated: %w: the reward there is the tests', with the bonus for tool calls", ErrUnsupported)
	case r.Data.OverLong == "error":
		b.note("an over-long prompt ends the run when it is met, not before")
	}
}

func (b *builder) rlData(r preset.RL) {
	b.set(b.table("data.train", r.Data.Train), "data.train_files")
	validation := r.Data.Validation
	if validation == "" {
		validation = r.Data.Train // main_ppo opens it whether it validates or not
	}
	b.set(b.table("data.validation", validation), "data.val_files")
	b.set(r.Rollout.Prompts, "data.train_batch_size")
	b.set(r.Data.MaxPrompt, "data.max_prompt_length")
	b.set(r.Rollout.MaxResponse, "data.max_response_length")
	b.set(r.Data.OverLong == "drop", "data.filter_overlong_prompts")
	b.set("error", "data.truncation")
	b.set(r.Data.Shuffle, "data.shuffle")
	b.set(r.Seed, "data.seed")
}

func (b *builder) rlPolicy(r preset.RL) {
	b.set(b.model(r.Model.Path), policy+"path")
	b.set(true, policy+"use_remove_padding")
	b.set(r.Model.Checkpointing, policy+"enable_gradient_checkpointing")
	b.lora(r.Model.LoRA, policy)
}

func (b *builder) rlActor(r preset.RL) {
	g, o := r.GRPO, r.Optim
	b.set(r.Verl.Strategy, actor+"strategy")
	b.set(o.LR, actor+"optim.lr")
	b.set(o.Betas, actor+"optim.betas")
	b.set(o.WeightDecay, actor+"optim.weight_decay")
	b.set(o.Schedule, actor+"optim.lr_scheduler_type")
	b.set(o.Warmup, actor+"optim.lr_warmup_steps_ratio")
	b.eps(o.Eps, actor+"optim.")
	b.set(clip(o.Clip), actor+"grad_clip", actor+"optim.clip_grad")
	b.set(r.Batch.Mini, actor+"ppo_mini_batch_size")
	b.set(r.Batch.Epochs, actor+"ppo_epochs")
	b.set(true, actor+"use_dynamic_bsz")
	b.set(b.rowTokens(r), actor+"ppo_max_token_len_per_gpu")
	b.set(r.Verl.SequenceParallel, actor+"ulysses_sequence_parallel_size")
	b.set(g.ClipLow, actor+"clip_ratio")
	b.set(g.ClipLow, actor+"clip_ratio_low")
	b.set(g.ClipHigh, actor+"clip_ratio_high")
	b.set(g.DualClip, actor+"clip_ratio_c")
	b.set(g.Aggregate, actor+"loss_agg_mode")
	b.set(g.Entropy, actor+"entropy_coeff")
	b.set(g.KLCoef > 0, actor+"use_kl_loss")
	if g.KLCoef > 0 {
		b.set(g.KLCoef, actor+"kl_loss_coef")
		b.set(g.KLType, actor+"kl_loss_type")
		b.set(r.Verl.Offload, ref+"fsdp_config.param_offload")
		b.set(false, ref+"use_torch_compile", ref+"fsdp_config.use_torch_compile")
	}
	b.set(r.Verl.Offload, actor+"fsdp_config.param_offload")
	b.set(r.Verl.Offload, actor+"fsdp_config.optimizer_offload")
	b.set(false, actor+"use_torch_compile", actor+"fsdp_config.use_torch_compile")
}

// rowTokens is the budget of a micro-batch, which must hold the longest sample.
func (b *builder) rowTokens(r preset.RL) int {
	sp := r.Verl.SequenceParallel
	least := (r.Data.MaxPrompt + r.Rollout.MaxResponse + sp - 1) / sp
	if r.Batch.Tokens < least {
		b.note("batch.tokens %d is raised to %d: verl wants room for the longest sample", r.Batch.Tokens, least)
	}
	return max(r.Batch.Tokens, least)
}

func (b *builder) rlRollout(r preset.RL) {
	whole := r.Data.MaxPrompt + r.Rollout.MaxResponse
	b.set("vllm", rollout+"name")
	b.set(r.Rollout.Group, rollout+"n")
	b.set(r.Rollout.Temperature, rollout+"temperature")
	b.set(r.Rollout.TopP, rollout+"top_p")
	b.topK(r.Rollout.TopK, rollout+"top_k", "rollout.top_k")
	b.set(r.Verl.TensorParallel, rollout+"tensor_model_parallel_size")
	b.set(r.Verl.Memory, rollout+"gpu_memory_utilization")
	b.set(whole, rollout+"max_model_len")
	b.set(max(whole, r.Batch.Tokens), rollout+"max_num_batched_tokens")
	b.set(1024, rollout+"max_num_seqs") // the default fell to 256 in 0.9.0
	b.set(false, rollout+"calculate_log_probs")
	b.setWhere(r.Seed, rollout+"seed")
	b.set(r.Validate.N, rollout+"val_kwargs.n")
	b.set(r.Validate.Temperature, rollout+"val_kwargs.temperature")
	b.set(r.Validate.TopP, rollout+"val_kwargs.top_p")
	b.topK(r.Validate.TopK, rollout+"val_kwargs.top_k", "validate.top_k")
}

// topK refuses a choice that 0.7.0 has a key for and does not hand to its sampler.
func (b *builder) topK(k int, key, name string) {
	switch {
	case k == 0:
		b.set(-1, key)
	case b.plan.Version == "0.7.0":
		b.fail("%s: %w: verl 0.7.0 does not hand it to the sampler", name, ErrUnsupported)
	default:
		b.set(k, key)
	}
}

func (b *builder) rlTools(r preset.RL) {
	b.set(r.Verl.Workers, rollout+"agent.num_workers")
	if !r.Tools.Enable {
		b.set("single_turn_agent", rollout+"agent.default_agent_loop")
		return
	}
	b.plan.Tools = toolYAML(r)
	b.set("tool_agent", rollout+"agent.default_agent_loop")
	b.setWhere(true, rollout+"multi_turn.enable")
	b.set(r.Tools.MaxTurns, rollout+"multi_turn.max_assistant_turns")
	b.set(r.Tools.MaxTurns, rollout+"multi_turn.max_user_turns")
	b.set(r.Tools.Parallel, rollout+"multi_turn.max_parallel_calls")
	b.set(r.Tools.Output, rollout+"multi_turn.max_tool_response_length")
	b.set("middle", rollout+"multi_turn.tool_response_truncate_side")
	b.set(r.Tools.Format, rollout+"multi_turn.format")
	b.set(toolConfig, rollout+"multi_turn.tool_config_path")
}

// rlReward names the reward function of the Python module. Its section moved in
// 0.7.1, and main_ppo reads the old one no more since 0.9.0.
func (b *builder) rlReward(r preset.RL) {
	section := "reward.custom_reward_function."
	if !b.keys.reads(ppo, section+"path") {
		section = strings.TrimPrefix(section, "reward.")
	}
	w := r.Reward
	b.set("pkg://cr_verl.reward", section+"path")
	b.set(rewardFunction(w), section+"name")
	b.set("naive", "reward.reward_manager.name", "reward_model.reward_manager")
	b.set(r.Verl.Workers, "reward.num_workers", "reward_model.num_workers")
	arguments := section + "reward_kwargs."
	b.append(w.Sandbox, arguments+"sandbox_url")
	b.append(w.Extract, arguments+"extract")
	b.append(w.Score, arguments+"score")
	b.append(w.Timeout, arguments+"timeout")
	b.append(infraPolicy(w), arguments+"infra")
	if w.Bonus > 0 {
		b.append(w.Bonus, arguments+"bonus")
		b.append(w.MaxCalls, arguments+"max_calls")
	}
	if w.Infra == "drop" {
		b.note("verl cannot leave a sample out of the loss: an answer that could not be judged ends the run (reward.infra stop), and the same command goes on from the last checkpoint")
	}
	if r.Verl.Nodes > 1 && strings.Contains(w.Sandbox, "localhost") {
		b.note("reward.sandbox %s: every machine needs a sandbox of its own, or all of them a common address", w.Sandbox)
	}
}

func rewardFunction(w preset.Reward) string {
	if w.Bonus > 0 {
		return "compute_reward"
	}
	return "compute_score"
}

func infraPolicy(w preset.Reward) string {
	if w.Infra == "zero" {
		return "zero"
	}
	return "stop"
}

// rlSpec hands speculation to vLLM. The default load_format begins with random
// weights; those of the policy are replaced before the first sample, a draft
// model's never.
func (b *builder) rlSpec(s preset.Spec) {
	if s.Method == "none" {
		return
	}
	config := []pair{{"method", s.Method}, {"num_speculative_tokens", s.Tokens}}
	if s.Draft != "" {
		config = append(config, pair{"model", b.model(s.Draft)})
	}
	b.set("auto", rollout+"load_format")
	b.set(false, rollout+"disable_log_stats")
	b.append([]pair{{"speculative_config", config}}, rollout+"engine_kwargs.vllm")
	if s.Method == "suffix" {
		b.note("suffix decoding needs the package arctic-inference beside vLLM")
	}
}

func (b *builder) rlTrainer(r preset.RL) {
	b.set(0, "trainer.critic_warmup")
	b.set(r.Verl.Logger, "trainer.logger")
	b.set(r.Verl.Project, "trainer.project_name")
	b.set(r.Verl.Experiment, "trainer.experiment_name")
	b.set(r.Train.Out, "trainer.default_local_dir")
	b.set(r.Verl.Nodes, "trainer.nnodes")
	b.set(r.Verl.Devices, "trainer.n_gpus_per_node")
	b.set(r.Train.Epochs, "trainer.total_epochs")
	if r.Train.Steps > 0 {
		b.set(r.Train.Steps, "trainer.total_training_steps")
	}
	b.set(orLast(r.Train.SaveEvery), "trainer.save_freq")
	b.set(orNever(r.Validate.Every), "trainer.test_freq")
	b.set(r.Validate.Before && r.Validate.Every > 0, "trainer.val_before_train")
	if r.Train.Keep > 0 {
		b.set(r.Train.Keep, "trainer.max_actor_ckpt_to_keep")
	}
	b.set(r.Verl.Device, "trainer.device")
	if b.keys.reads(ppo, "trainer.use_v1") {
		b.set(true, "trainer.use_v1")
		b.set("sync", "trainer.v1.trainer_mode")
		b.note("the trainer of verl %s needs the package TransferQueue (pip install 'verl[verl-core]')", b.plan.Version)
	}
}

// orLast is verl's number of steps between checkpoints; with -1 main_ppo would not
// save the last one.
func orLast(steps int) int {
	if steps == 0 {
		return 1_000_000_000
	}
	return steps
}
