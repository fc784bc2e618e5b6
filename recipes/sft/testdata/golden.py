"""Writes golden.json: losses, gradient norms and final weights of a bigram model
trained in PyTorch as verl's fsdp_sft_trainer does it, and the schedule of
transformers. Usage: golden.py > golden.json (torch 2.x, transformers 4 or 5)."""

import json

import torch
from transformers import get_cosine_schedule_with_warmup

VOCAB, STEPS, BATCH, RANKS, MICRO = 7, 9, 8, 2, 2
torch.manual_seed(7)


def conversation(i):
    """Ids and trained spans of example i; lengths and masks differ."""
    length = 4 + 3 * (i % 5)
    ids = [(5 * i + 3 * j * j + j) % VOCAB for j in range(length)]
    spans = [[1 + i % 2, 3 + i % 2]] if i % 4 else [[1, 2], [3, length]]
    return ids, spans


data = [conversation(i) for i in range(24)]


def targets(example):
    ids, spans = example
    return [(ids[t - 1], ids[t]) for a, b in spans for t in range(a, b)]


def losses(table, example):
    pairs = torch.tensor(targets(example))
    return torch.nn.functional.cross_entropy(table[pairs[:, 0]], pairs[:, 1], reduction="none")


def token_mean(table, batch):
    return torch.cat([losses(table, e) for e in batch]).mean()


def verl_mean(table, batch):
    # DistributedSampler: rank r gets every RANKS-th example; each rank cuts its
    # share into micro-batches, and gradients are averaged over both.
    ranks = []
    for r in range(RANKS):
        share = batch[r::RANKS]
        micros = [share[i : i + MICRO] for i in range(0, len(share), MICRO)]
        ranks.append(sum(token_mean(table, m) for m in micros) / len(micros))
    return sum(ranks) / RANKS


def train(loss_of):
    table = torch.nn.Parameter(torch.zeros(VOCAB, VOCAB, dtype=torch.float64))
    optim = torch.optim.AdamW([table], lr=0.05, betas=(0.9, 0.95), eps=1e-8, weight_decay=0.01)
    schedule = get_cosine_schedule_with_warmup(optim, int(0.3 * STEPS), STEPS)
    steps = []
    for step in range(STEPS):
        at = step * BATCH % len(data)
        batch = data[at : at + BATCH]
        loss = loss_of(table, batch)
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_([table], 1.0)
        optim.step()
        optim.zero_grad()
        schedule.step()
        steps.append({"loss": loss.item(), "grad_norm": norm.item(), "lr": schedule.get_last_lr()[0]})
    with torch.no_grad():
        validation = token_mean(table, data) if loss_of is token_mean else sum(
            token_mean(table, data[i : i + MICRO]) for i in range(0, len(data), MICRO)) / (len(data) // MICRO)
    return {"steps": steps, "weights": table.flatten().tolist(), "validation": validation.item()}


def rates(total, warmup):
    optim = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=1e-5)
    schedule = get_cosine_schedule_with_warmup(optim, int(warmup * total), total)
    out = []
    for _ in range(total):
        out.append(schedule.get_last_lr()[0])
        optim.step()
        schedule.step()
    return {"total": total, "warmup": warmup, "rates": out}


print(json.dumps({
    "data": [{"ids": ids, "spans": spans} for ids, spans in data],
    "token": train(token_mean),
    "verl": train(verl_mean),
    "schedules": [rates(t, w) for t, w in [(1, 0.1), (7, 0.0), (20, 0.1), (29, 0.1), (100, 0.07)]],
}))
