"""Advantages, policy losses, divergences and aggregations by verl's own core_algos.

Reads one JSON case a line, writes one JSON answer a line. Everything is computed
in float64, gradients by torch.autograd.

    python core_algos.py < core_algos.cases.jsonl > core_algos.golden.jsonl
"""

import json
import sys
from types import SimpleNamespace

import numpy as np
import torch
from verl.trainer.ppo import core_algos

torch.set_default_dtype(torch.float64)


class Config(SimpleNamespace):
    def get(self, key, default=None):
        return getattr(self, key, default)


def advantages(case):
    rewards = torch.zeros(len(case["rewards"]), 3)
    rewards[:, 1] = torch.tensor(case["rewards"])
    mask = torch.ones_like(rewards)
    result, _ = core_algos.compute_grpo_outcome_advantage(
        rewards, mask, np.array(case["group"]), norm_adv_by_std_in_grpo=case["by_std"]
    )
    return {"advantages": result[:, 0].tolist()}


def loss(case):
    def matrix(name):
        return torch.tensor(case[name])

    logp, entropy = matrix("logp").requires_grad_(), matrix("entropy").requires_grad_()
    mask = matrix("mask")
    advantage = torch.tensor(case["advantage"]).unsqueeze(-1) * mask
    config = Config(
        clip_ratio=case["clip_low"], clip_ratio_low=case["clip_low"], clip_ratio_high=case["clip_high"],
        clip_ratio_c=case["dual_clip"], policy_loss=Config(), global_batch_info={},
    )
    mode = case["aggregate"]
    try:
        out = core_algos.compute_policy_loss_vanilla(matrix("old"), logp, advantage, mask, mode, config)
    except TypeError:
        out = core_algos.compute_policy_loss_vanilla(
            old_log_prob=matrix("old"), log_prob=logp, advantages=advantage, response_mask=mask, loss_agg_mode=mode, config=config
        )
    pg, metrics = (out[0], out[1]) if isinstance(out[1], dict) else (
        out[0], {"actor/pg_clipfrac": out[1].item(), "actor/ppo_kl": out[2].item(), "actor/pg_clipfrac_lower": out[3].item()}
    )
    kl = core_algos.agg_loss(core_algos.kl_penalty(logp, matrix("reference"), case["kl_type"]), mask, mode)
    ent = core_algos.agg_loss(entropy, mask, mode)
    total = pg + case["kl_coef"] * kl - case["entropy_coef"] * ent
    total.backward()
    return {
        "loss": total.item(), "pg": pg.item(), "kl": kl.item(), "entropy": ent.item(),
        "dlogp": logp.grad.tolist(), "dentropy": entropy.grad.tolist(),
        "clipfrac": metrics["actor/pg_clipfrac"], "ppo_kl": metrics["actor/ppo_kl"],
        "clipfrac_lower": metrics["actor/pg_clipfrac_lower"],
    }


for line in sys.stdin:
    case = json.loads(line)
    answer = advantages(case) if case["kind"] == "advantages" else loss(case)
    print(json.dumps(answer), flush=True)
