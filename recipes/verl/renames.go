package verl

// renames are settings that changed their key: one line a setting, its names from
// the oldest to the newest. A trailing dot names a whole section.
var renames = [...][]string{
	{"custom_reward_function.", "reward.custom_reward_function."},
	{"reward_model.reward_manager", "reward.reward_manager.name"},
	{"reward_model.num_workers", "reward.num_workers"},
	{"reward_model.reward_loop_module_path", "reward.reward_manager.module.path"},
	{"reward_model.reward_loop_class_name", "reward.reward_manager.module.name"},
	{"reward_model.reward_loop_source", "reward.reward_manager.source"},
	{"reward_model.model.path", "reward.reward_model.model_path"},
	{"reward_model.", "reward.reward_model."},
	{"sandbox_fusion.", "reward.sandbox_fusion."},
	{"actor_rollout_ref.actor.grad_clip", "actor_rollout_ref.actor.optim.clip_grad"},
	{"actor_rollout_ref.actor.use_torch_compile", "actor_rollout_ref.actor.fsdp_config.use_torch_compile"},
	{"actor_rollout_ref.ref.use_torch_compile", "actor_rollout_ref.ref.fsdp_config.use_torch_compile"},
	{"critic.grad_clip", "critic.optim.clip_grad"},
	{"actor_rollout_ref.rollout.multi_turn.enable", "actor_rollout_ref.rollout.agent.default_agent_loop"}, // tool_agent
	{"actor_rollout_ref.rollout.update_weights_bucket_megabytes", "actor_rollout_ref.rollout.checkpoint_engine.update_weights_bucket_megabytes"},
	{"actor_rollout_ref.rollout.skip_rollout", "actor_rollout_ref.rollout.skip.enable", "skip.rollout.enable"},
	{"actor_rollout_ref.rollout.skip_dump_dir", "actor_rollout_ref.rollout.skip.dump_dir", "skip.rollout.dump_dir"},
	{"model.partial_pretrain", "model.path"},
	{"model.strategy", "engine.strategy"},
	{"ulysses_sequence_parallel_size", "engine.ulysses_sequence_parallel_size"},
	{"use_remove_padding", "model.use_remove_padding"},
	{"data.multiturn.", "data."},
	{"optim.lr_scheduler", "optim.lr_scheduler_type"},
	{"model.fsdp_config.model_dtype", "engine.model_dtype"},
	{"trainer.checkpoint.", "checkpoint."},
}

// renamed is the name that a setting has in this version, "" where it has none.
func (t *keyTable) renamed(config, dotted string) string {
	for _, names := range renames {
		for _, name := range names {
			rest, ok := under(dotted, name)
			if !ok {
				continue
			}
			for i := len(names) - 1; i >= 0; i-- {
				if now := names[i] + rest; now != dotted && t.reads(config, now) {
					return now
				}
			}
		}
	}
	return ""
}

// under tells whether dotted is name, or lies in the section that name is; rest
// is what follows a section's name.
func under(dotted, name string) (rest string, ok bool) {
	if name[len(name)-1] == '.' {
		if len(dotted) > len(name) && dotted[:len(name)] == name {
			return dotted[len(name):], true
		}
		return "", false
	}
	return "", dotted == name
}
