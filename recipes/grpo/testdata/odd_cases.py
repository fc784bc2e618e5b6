"""Advantages, policy losses, divergences and aggregations, written out in PyTorch.

Not verl's code: the formulas of docs/training.md, sequence by sequence, for cases
at the edges, which odd_cases_test.go makes. Reads one JSON case a line, writes one
JSON answer a line.

    go test ./recipes/grpo -run TestOddCases -update (CR_TEST_PYTHON has torch)
"""

import json
import sys

import torch

torch.set_default_dtype(torch.float64)


def numbers(row):
    return torch.tensor(row, dtype=torch.float64)  # JSON has 1 for 1.0


def advantages(case):
    rewards, groups = numbers(case["rewards"]), case["group"]
    result = torch.empty_like(rewards)
    for name in set(groups):
        at = [i for i, g in enumerate(groups) if g == name]
        members = rewards[at]
        mean, std = (members.mean(), members.std()) if len(at) > 1 else (torch.tensor(0.0), torch.tensor(1.0))
        result[at] = (members - mean) / (std + 1e-6) if case["by_std"] else members - mean
    return {"advantages": result.tolist()}


def aggregate(values, keep, mode):
    """values and keep are lists of rows; rows without a kept token count nowhere."""
    rows = [v[k] for v, k in zip(values, keep) if k.any()]
    if mode == "token-mean":
        return torch.cat(rows).mean()
    if mode == "seq-mean-token-sum":
        return torch.stack([r.sum() for r in rows]).mean()
    if mode == "seq-mean-token-mean":
        return torch.stack([r.mean() for r in rows]).mean()
    return torch.stack([r.sum() for r in rows]).mean() / len(values[0])


def divergence(kind, logp, reference):
    d = logp - reference
    value = {
        "kl": lambda: d,
        "abs": lambda: d.abs(),
        "mse": lambda: 0.5 * d**2,
        "low_var_kl": lambda: (torch.exp((-d).clamp(-20, 20)) - (-d).clamp(-20, 20) - 1).clamp(-10, 10),
    }[kind.rstrip("+")]()
    if kind.endswith("+"):
        straight = 0.5 * d**2
        value = straight + (value - straight).detach()
    return value


def loss(case):
    def leaf(name):
        return [numbers(row).requires_grad_() for row in case[name]]

    logp, entropy = leaf("logp"), leaf("entropy")
    keep = [numbers(row) > 0 for row in case["mask"]]
    pg, kl, clipped, dual, minus_log_ratio = [], [], [], [], []
    for i, a in enumerate(case["advantage"]):
        delta = (logp[i] - numbers(case["old"][i])).clamp(-20, 20)
        ratio = delta.exp()
        free, bound = -a * ratio, -a * ratio.clamp(1 - case["clip_low"], 1 + case["clip_high"])
        worst = torch.maximum(free, bound)
        limit = torch.full_like(worst, -a * case["dual_clip"])
        pg.append(torch.minimum(worst, limit) if a < 0 else worst)
        kl.append(divergence(case["kl_type"], logp[i], numbers(case["reference"][i])))
        clipped.append((bound > free).double())
        dual.append((worst > limit).double() * (a < 0))
        minus_log_ratio.append(-delta)
    mode = case["aggregate"]
    parts = [aggregate(x, keep, mode) for x in (pg, kl, entropy)]
    total = parts[0] + case["kl_coef"] * parts[1] - case["entropy_coef"] * parts[2]
    total.backward()
    share = lambda x: aggregate([v.detach() for v in x], keep, "token-mean").item()
    grad = lambda rows: [(r.grad if r.grad is not None else torch.zeros_like(r)).tolist() for r in rows]
    return {
        "loss": total.item(), "pg": parts[0].item(), "kl": parts[1].item(), "entropy": parts[2].item(),
        "dlogp": grad(logp), "dentropy": grad(entropy),
        "clipfrac": share(clipped), "ppo_kl": share(minus_log_ratio), "clipfrac_lower": share(dual),
    }


for line in sys.stdin:
    case = json.loads(line)
    print(json.dumps(advantages(case) if case["kind"] == "advantages" else loss(case)), flush=True)
