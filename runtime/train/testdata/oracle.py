"""The outside oracle of package train: the same steps in PyTorch with transformers.

    oracle.py DIR     runs the case in DIR and writes DIR/want.safetensors
    oracle.py --make  makes the committed cases again, beside this script

A case is a folder with config.json, model.safetensors and case.json; with LoRA
also adapters.safetensors, the adapters at the start. Every segment of a batch
is run alone, so that packing is checked too. want.safetensors has the gradients
of the first step (grad.NAME), before clipping, the trained weights after all
steps (final.NAME), and the rows' logp and entropy before the first.
"""

import json
import pathlib
import random
import sys

import torch
from safetensors.torch import load_file, save_file
from transformers import AutoConfig, AutoModelForCausalLM

torch.set_num_threads(1)


class Adapted(torch.nn.Module):
    def __init__(self, base, a, b, scale):
        super().__init__()
        self.base, self.scale = base, scale
        self.a, self.b = torch.nn.Parameter(a), torch.nn.Parameter(b)

    def forward(self, x):
        return self.base(x) + self.scale * (x @ self.a.T @ self.b.T)


def adapt(model, directory, lora):
    adapters = load_file(directory / "adapters.safetensors")
    model.requires_grad_(False)
    for name in sorted({key.rsplit(".lora_", 1)[0] for key in adapters}):
        parent, child = name.rsplit(".", 1)
        module = model.get_submodule(parent)
        a, b = adapters[name + ".lora_A.weight"], adapters[name + ".lora_B.weight"]
        setattr(module, child, Adapted(getattr(module, child), a, b, lora["alpha"] / lora["rank"]))


def plain_name(name):
    if name.endswith((".a", ".b")):
        return name[:-2] + ".lora_" + name[-1].upper() + ".weight"
    return name


def row_values(model, batch, temperature):
    """The log-probabilities and entropies of the batch's rows."""
    parts = []
    for lo, hi in zip(batch["starts"], batch["starts"][1:]):
        ids = torch.tensor([batch["ids"][lo:hi]])
        parts.append(model(input_ids=ids).logits[0])
    logits = torch.cat(parts)[batch["rows"]] / temperature
    logp = torch.log_softmax(logits, -1)
    entropy = -(logp.exp() * logp).sum(-1)
    targets = torch.tensor(batch["targets"])
    return logp.gather(1, targets[:, None])[:, 0], entropy


def run(directory):
    directory = pathlib.Path(directory)
    case = json.loads((directory / "case.json").read_text())
    model = AutoModelForCausalLM.from_pretrained(directory, dtype=torch.float32, attn_implementation="eager")
    model.train()
    if case.get("lora"):
        adapt(model, directory, case["lora"])
    named = {n: p for n, p in model.named_parameters() if p.requires_grad}
    adamw = case["adamw"]
    optimiser = torch.optim.AdamW(
        named.values(), lr=case["lr"], betas=(adamw["beta1"], adamw["beta2"]), eps=adamw["eps"],
        weight_decay=adamw["weight_decay"])
    want = {}
    for step in range(case["steps"]):
        optimiser.zero_grad()
        for i, batch in enumerate(case["batches"]):
            logp, entropy = row_values(model, batch, case["temperature"])
            if step == 0:
                want[f"logp.{i}"], want[f"entropy.{i}"] = logp.detach(), entropy.detach()
            loss = (torch.tensor(batch["dlogp"]) * logp).sum() + (torch.tensor(batch["dentropy"]) * entropy).sum()
            loss.backward()
        if step == 0:
            for n, p in named.items():
                want["grad." + plain_name(n)] = p.grad.clone()
        norm = torch.nn.utils.clip_grad_norm_(named.values(), case["clip"] or float("inf"))
        want["norms"] = torch.cat([want.get("norms", torch.zeros(0)), norm[None]])
        optimiser.step()
    for n, p in named.items():
        want["final." + plain_name(n)] = p.detach().clone()
    save_file({n: t.contiguous() for n, t in want.items()}, directory / "want.safetensors")


def make_batch(rng, vocab, lengths):
    ids, positions, starts = [], [], [0]
    for n in lengths:
        ids += [rng.randrange(vocab) for _ in range(n)]
        positions += range(n)
        starts.append(len(ids))
    rows = [r for r in range(len(ids)) if r + 1 not in starts and rng.random() < 0.7]
    return {
        "ids": ids, "positions": positions, "starts": starts, "rows": rows, "targets": [ids[r + 1] for r in rows],
        "dlogp": [round(rng.uniform(-0.2, 0.05), 3) for _ in rows],
        "dentropy": [round(rng.uniform(-0.02, 0.02), 3) for _ in rows],
    }


CASES = {
    "qwen3-tied": dict(
        config=dict(model_type="qwen3", hidden_size=20, num_hidden_layers=2, num_attention_heads=4,
                    num_key_value_heads=2, head_dim=8, intermediate_size=28, vocab_size=31, tie_word_embeddings=True,
                    attention_bias=True, rms_norm_eps=1e-6, rope_theta=10000.0),
        lengths=[[7, 1, 12], [9, 40]]),
    "llama-untied": dict(
        config=dict(model_type="llama", hidden_size=18, num_hidden_layers=2, num_attention_heads=3,
                    num_key_value_heads=1, head_dim=6, intermediate_size=26, vocab_size=33, tie_word_embeddings=False,
                    attention_bias=True, mlp_bias=True, rms_norm_eps=1e-5, rope_theta=5000.0),
        lengths=[[5, 33], [11]]),
    "qwen3-lora": dict(
        config=dict(model_type="qwen3", hidden_size=16, num_hidden_layers=2, num_attention_heads=2,
                    num_key_value_heads=1, head_dim=10, intermediate_size=24, vocab_size=31, tie_word_embeddings=True,
                    rms_norm_eps=1e-6, rope_theta=10000.0),
        lengths=[[14, 9, 6]], lora=dict(rank=3, alpha=6.0, targets=["q_proj", "v_proj", "o_proj", "down_proj"])),
}


def make(name, spec, directory):
    rng = random.Random(name)
    torch.manual_seed(len(name))
    directory.mkdir(exist_ok=True)
    config = spec["config"] | {"initializer_range": 0.3, "max_position_embeddings": 64, "hidden_act": "silu"}
    (directory / "config.json").write_text(json.dumps(config))
    model = AutoModelForCausalLM.from_config(AutoConfig.from_pretrained(directory))
    for n, p in model.named_parameters():
        if n.endswith(("norm.weight", "bias")):
            torch.nn.init.normal_(p, mean=float(n.endswith("weight")), std=0.2)
    state = {n: p.detach() for n, p in model.named_parameters()}
    save_file(state, directory / "model.safetensors", metadata={"format": "pt"})
    lora = spec.get("lora")
    if lora:
        adapters = {}
        for n, p in state.items():
            if n.endswith(tuple(f".{target}.weight" for target in lora["targets"])):
                stem = n.removesuffix(".weight")
                adapters[stem + ".lora_A.weight"] = torch.randn(lora["rank"], p.shape[1]) * 0.3
                adapters[stem + ".lora_B.weight"] = torch.randn(p.shape[0], lora["rank"]) * 0.1
        save_file(adapters, directory / "adapters.safetensors")
    case = {
        "steps": 10, "lr": 0.01, "clip": 1.0, "temperature": 0.8, "lora": lora,
        "adamw": {"beta1": 0.9, "beta2": 0.95, "eps": 1e-8, "weight_decay": 0.1},
        "batches": [make_batch(rng, config["vocab_size"], lengths) for lengths in spec["lengths"]],
    }
    (directory / "case.json").write_text(json.dumps(case))
    run(directory)


if __name__ == "__main__":
    if sys.argv[1] == "--make":
        for case_name, case_spec in CASES.items():
            make(case_name, case_spec, pathlib.Path(__file__).parent / case_name)
    else:
        run(sys.argv[1])
