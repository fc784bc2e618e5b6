package verl

import (
	"strconv"

	"github.com/coderl/cr/recipes/preset"
)

// The SFT trainers through the versions: configuration and module.
const (
	oldSFT = "sft_trainer"        // fsdp_sft_trainer, up to 0.7.0
	newSFT = "sft_trainer_engine" // sft_trainer
)

func (b *builder) sft(r preset.SFT) {
	b.sftLimits(r)
	b.plan.Launcher = torchrun(r.Verl)
	b.sftEnv(r.Verl)
	if b.keys.configs[oldSFT] != nil {
		b.plan.Config, b.plan.Module = oldSFT, "verl.trainer.fsdp_sft_trainer"
		b.add(Override{Key: "data.multiturn.enable", Value: true})
	} else {
		b.plan.Config, b.plan.Module = newSFT, "verl.trainer.sft_trainer"
	}
	b.sftData(r)
	b.sftModel(r)
	b.sftOptim(r)
	b.sftTrainer(r)
}

// sftLimits refuses what no verl trainer can be told.
func (b *builder) sftLimits(r preset.SFT) {
	switch {
	case r.Model.New != nil:
		b.fail("model.new: %w: it trains checkpoints; name one by --model", ErrUnsupported)
	case r.Model.DType != "bf16":
		b.fail("model.dtype %s: %w: it computes in bf16; set that", r.Model.DType, ErrUnsupported)
	case r.Data.OverLong == "drop":
		b.fail("data.over_long drop: %w: it can stop (error) or truncate", ErrUnsupported)
	case r.Data.Thinking == "strip":
		b.fail("data.thinking strip: %w; strip it from the data", ErrUnsupported)
	case !r.Data.Shuffle:
		b.fail("data.shuffle false: %w: it always shuffles", ErrUnsupported)
	case r.Train.Patience > 0:
		b.fail("train.patience: %w: it stops after its epochs or steps; set 0", ErrUnsupported)
	}
}

func (b *builder) sftData(r preset.SFT) {
	b.set(b.table("data.train", r.Data.Train), "data.train_files")
	if r.Data.Validation != "" {
		b.set(b.table("data.validation", r.Data.Validation), "data.val_files")
	} else if b.plan.Config == oldSFT {
		b.set(r.Data.Train, "data.val_files")
		b.note("fsdp_sft_trainer needs validation data: the training data stand in")
	}
	b.set(r.Data.MessagesKey, "data.multiturn.messages_key", "data.messages_key")
	b.set(r.Data.ToolsKey, "data.multiturn.tools_key", "data.tools_key")
	b.set(r.Data.MaxLength, "data.max_length")
	if r.Data.OverLong == "truncate" {
		b.set("right", "data.truncation")
	} else {
		b.set("error", "data.truncation")
	}
	b.set(r.Batch.Size, "data.train_batch_size")
	b.set(r.Batch.Micro, "data.micro_batch_size_per_gpu")
	if b.plan.Config == oldSFT {
		if r.Loss.Norm == "token" {
			b.note("fsdp_sft_trainer takes the mean of micro-batch means (loss.norm verl), not that of all tokens")
		}
		return
	}
	if r.Loss.Norm == "verl" {
		b.note("sft_trainer takes the mean over all tokens of a step (loss.norm token)")
	}
	sp := r.Verl.SequenceParallel
	b.set(true, "data.use_dynamic_bsz")
	b.set(max(r.Batch.Tokens, (r.Data.MaxLength+sp-1)/sp), "data.max_token_len_per_gpu")
	// It renders each message alone and would stop where that differs from the
	// conversation as a whole, which it does for templates that treat thinking by
	// position.
	b.set(true, "data.ignore_input_ids_mismatch")
	b.note("sft_trainer renders each message alone: Qwen3's template then drops all thinking from the training text. cr train sft renders the conversation once")
}

func (b *builder) sftModel(r preset.SFT) {
	b.set(b.model(r.Model.Path), "model.partial_pretrain", "model.path")
	b.set(r.Verl.Strategy, "model.strategy", "engine.strategy")
	b.set(r.Model.Checkpointing, "model.enable_gradient_checkpointing")
	b.set(true, "use_remove_padding", "model.use_remove_padding")
	b.set(r.Verl.SequenceParallel, "ulysses_sequence_parallel_size", "engine.ulysses_sequence_parallel_size")
	b.lora(r.Model.LoRA, "model.")
}

// lora adds adapters to the section of a model.
func (b *builder) lora(l preset.LoRA, section string) {
	if l.Rank == 0 {
		return
	}
	b.set(l.Rank, section+"lora_rank")
	b.set(l.Alpha, section+"lora_alpha")
	b.set(l.Targets, section+"target_modules")
}

func (b *builder) sftOptim(r preset.SFT) {
	b.set(r.Optim.LR, "optim.lr")
	b.set(r.Optim.Betas, "optim.betas")
	b.set(r.Optim.WeightDecay, "optim.weight_decay")
	b.set(clip(r.Optim.Clip), "optim.clip_grad")
	b.set(r.Optim.Warmup, "optim.lr_warmup_steps_ratio")
	switch {
	case b.plan.Config != oldSFT:
		b.set(r.Optim.Schedule, "optim.lr_scheduler_type")
	case r.Optim.Schedule == "cosine":
		b.set("cosine", "optim.lr_scheduler")
	default:
		b.fail("optim.schedule %s: %w: fsdp_sft_trainer of verl %s knows cosine and wsd", r.Optim.Schedule, ErrUnsupported, b.plan.Version)
	}
	b.eps(r.Optim.Eps, "optim.")
}

// eps adds AdamW's epsilon where it is not verl's.
func (b *builder) eps(eps float64, section string) {
	if eps != 1e-8 {
		b.set([]pair{{"eps", eps}}, section+"override_optimizer_config")
	}
}

// noClip is a gradient norm that is never reached, for verl always clips.
const noClip = 1e9

func clip(norm float64) float64 {
	if norm == 0 {
		return noClip
	}
	return norm
}

func (b *builder) sftTrainer(r preset.SFT) {
	b.set(r.Train.Out, "trainer.default_local_dir")
	b.set(r.Verl.Project, "trainer.project_name")
	b.set(r.Verl.Experiment, "trainer.experiment_name")
	b.set([]string{"console", "tensorboard"}, "trainer.logger")
	b.set(r.Train.Epochs, "trainer.total_epochs")
	if r.Train.Steps > 0 {
		b.set(r.Train.Steps, "trainer.total_training_steps")
	}
	b.set(orNever(r.Train.SaveEvery), "trainer.save_freq")
	b.set(orNever(r.Train.ValidateEvery), "trainer.test_freq")
	if r.Train.Keep > 0 {
		b.set(r.Train.Keep, "trainer.max_ckpt_to_keep")
	}
	b.set(r.Verl.Device, "trainer.device")
	b.setWhere(r.Verl.Nodes, "trainer.nnodes")
	b.setWhere(r.Verl.Devices, "trainer.n_gpus_per_node")
}

// orNever is verl's number for every so many steps; the last one counts anyway.
func orNever(steps int) int {
	if steps == 0 {
		return -1
	}
	return steps
}

// torchrun starts a process a device; on several machines the same script runs on
// each, with NODE_RANK and MASTER_ADDR set.
func torchrun(v preset.Verl) []string {
	args := []string{"torchrun", "--nnodes=" + strconv.Itoa(v.Nodes), "--nproc_per_node=" + strconv.Itoa(v.Devices)}
	if v.Nodes == 1 {
		return append(args, "--standalone", "-m")
	}
	return append(args, "--node_rank=$NODE_RANK", "--master_addr=$MASTER_ADDR", "--master_port=${MASTER_PORT:-29500}", "-m")
}
