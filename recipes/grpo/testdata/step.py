"""One whole GRPO step again, in PyTorch and transformers, from the trajectories.

    python step.py step.json out.json

step.json names the model's folder before the step, the folder after it, the
recipe's numbers, and the samples: ids, spans that were sampled, reward, group.
The policy is updated as verl updates it: old and reference log-probabilities
first, then one AdamW update a mini-batch. out.json gets the losses and the
largest relative difference of the weights, measured by each tensor's norm.
"""

import json
import sys

import torch
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM

torch.manual_seed(0)
step = json.load(open(sys.argv[1]))
policy = AutoModelForCausalLM.from_pretrained(step["before"], dtype=torch.float32, attn_implementation="eager")
before = {name: w.detach().clone() for name, w in policy.state_dict().items()}


def scores(sample):
    """Log-probabilities of the sampled tokens, and entropies, at the temperature."""
    ids = torch.tensor([sample["ids"]])
    logits = policy(ids).logits[0].float() / step["temperature"]
    rows = [i - 1 for lo, hi in sample["spans"] for i in range(lo, hi)]
    logp = torch.log_softmax(logits[rows], -1)
    targets = ids[0][[r + 1 for r in rows]]
    return logp.gather(-1, targets[:, None])[:, 0], -(logp.exp() * logp).sum(-1)


with torch.no_grad():
    for s in step["samples"]:
        s["old"] = scores(s)[0]
        s["ref"] = s["old"]  # the reference is where the policy begins

groups = {}
for s in step["samples"]:
    groups.setdefault(s["group"], []).append(s)
for members in groups.values():
    rewards = torch.tensor([s["reward"] for s in members], dtype=torch.float64)
    for s, r in zip(members, rewards):
        s["advantage"] = ((r - rewards.mean()) / (rewards.std() + 1e-6)).item()

optimizer = torch.optim.AdamW(
    policy.parameters(), lr=step["lr"], betas=step["betas"], eps=step["eps"], weight_decay=step["weight_decay"]
)
order = sorted(groups)
result = {"pg": [], "kl": [], "grad_norm": []}
for _ in range(step["epochs"]):
    for at in range(0, len(order), step["mini"]):
        mini = [s for g in order[at : at + step["mini"]] for s in groups[g]]
        tokens = sum(len(s["old"]) for s in mini)
        optimizer.zero_grad()
        pg_sum = kl_sum = 0.0
        for s in mini:
            logp, entropy = scores(s)
            a = s["advantage"]
            ratio = torch.exp(torch.clamp(logp - s["old"], -20, 20))
            pg = torch.maximum(-a * ratio, -a * torch.clamp(ratio, 1 - step["clip_low"], 1 + step["clip_high"]))
            if a < 0:
                pg = torch.minimum(pg, torch.full_like(pg, -a * step["dual_clip"]))
            d = torch.clamp(s["ref"] - logp, -20, 20)
            kl = torch.clamp(torch.exp(d) - d - 1, -10, 10)
            loss = (pg + step["kl_coef"] * kl - step["entropy_coef"] * entropy).sum() / tokens
            loss.backward()
            pg_sum += pg.sum().item() / tokens
            kl_sum += kl.sum().item() / tokens
        norm = torch.nn.utils.clip_grad_norm_(policy.parameters(), step["clip"])
        optimizer.step()
        result["pg"].append(pg_sum)
        result["kl"].append(kl_sum)
        result["grad_norm"].append(norm.item())

result = {name: sum(values) / len(values) for name, values in result.items()}
after = load_file(step["after"] + "/model.safetensors")
worst, moved = 0.0, 0.0
for name, w in policy.state_dict().items():
    if name not in after:
        continue  # the tied head
    ours = after[name].float()
    worst = max(worst, ((ours - w).norm() / w.norm()).item())
    moved = max(moved, ((w - before[name]).norm() / w.norm()).item())
result.update(weights=worst, moved=moved, tensors=len(after))
json.dump(result, open(sys.argv[2], "w"))
