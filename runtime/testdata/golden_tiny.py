"""Makes golden_tiny.json: what transformers (torch, float32, eager attention)
computes on small random models of odd shapes.

    python golden_tiny.py > golden_tiny.json

No weights are stored: weight i of tensor NAME is a hash of (NAME, i), exact in
float32 and, for "bf16" models, in bfloat16. tiny_test.go makes the same values.
"""

import json
import sys

import numpy as np
import torch
import transformers

QWEN3 = dict(model_type="qwen3", architectures=["Qwen3ForCausalLM"], rms_norm_eps=1e-6)
LLAMA = dict(model_type="llama", architectures=["LlamaForCausalLM"], rms_norm_eps=1e-5)

MODELS = {
    "qwen3-group1-tied": (QWEN3, "f32", dict(
        hidden_size=48, num_attention_heads=3, num_key_value_heads=3, head_dim=20,
        intermediate_size=72, vocab_size=199, num_hidden_layers=2, tie_word_embeddings=True,
        rope_parameters=dict(rope_type="default", rope_theta=1e6))),
    "qwen3-group8-untied-sharded": (QWEN3, "f32", dict(
        hidden_size=64, num_attention_heads=8, num_key_value_heads=1, head_dim=24,
        intermediate_size=40, vocab_size=257, num_hidden_layers=3, tie_word_embeddings=False,
        rope_theta=1e4, rope_scaling=None)),
    "qwen3-group2-bf16": (QWEN3, "bf16", dict(
        hidden_size=96, num_attention_heads=6, num_key_value_heads=3, head_dim=32,
        intermediate_size=80, vocab_size=300, num_hidden_layers=2, tie_word_embeddings=True,
        rope_theta=1e6)),
    "qwen3-group4-bias-yarn": (QWEN3, "f32", dict(
        hidden_size=40, num_attention_heads=4, num_key_value_heads=1, head_dim=16,
        intermediate_size=56, vocab_size=131, num_hidden_layers=2, tie_word_embeddings=False,
        attention_bias=True,
        rope_parameters=dict(rope_type="yarn", rope_theta=1e4, factor=4.0,
                             original_max_position_embeddings=64))),
    "llama-group3-untied": (LLAMA, "f32", dict(
        hidden_size=48, num_attention_heads=6, num_key_value_heads=2,
        intermediate_size=88, vocab_size=151, num_hidden_layers=3, tie_word_embeddings=False,
        rope_theta=1e4)),
    "llama-group5-linear-bias-bf16": (LLAMA, "bf16", dict(
        hidden_size=70, num_attention_heads=5, num_key_value_heads=1, head_dim=14,
        intermediate_size=33, vocab_size=223, num_hidden_layers=2, tie_word_embeddings=True,
        attention_bias=True, mlp_bias=True,
        rope_parameters=dict(rope_type="linear", rope_theta=1e4, factor=4.0))),
    "llama-group7-llama3": (LLAMA, "f32", dict(
        hidden_size=56, num_attention_heads=7, num_key_value_heads=1, head_dim=12,
        intermediate_size=64, vocab_size=97, num_hidden_layers=2, tie_word_embeddings=False,
        rope_parameters=dict(rope_type="llama3", rope_theta=5e5, factor=8.0, low_freq_factor=1.0,
                             high_freq_factor=4.0, original_max_position_embeddings=64))),
    "llama-group6-tied": (LLAMA, "f32", dict(
        hidden_size=72, num_attention_heads=6, num_key_value_heads=1, head_dim=12,
        intermediate_size=50, vocab_size=180, num_hidden_layers=2, tie_word_embeddings=True,
        rope_theta=1e5)),
}

PROMPT_LENGTHS = (1, 37, 161)
TOKENS = 40
MASK = np.uint64(0xFFFFFFFFFFFFFFFF)


def splitmix(x):
    """The finaliser of splitmix64, on an array."""
    with np.errstate(over="ignore"):
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def units(name, count, bits):
    """count values in [-1, 1), multiples of 2^(1-bits)."""
    seed = 0xCBF29CE484222325  # FNV-1a
    for byte in name.encode():
        seed = ((seed ^ byte) * 0x100000001B3) & int(MASK)
    with np.errstate(over="ignore"):
        x = np.uint64(seed) + np.arange(count, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    whole = (splitmix(x) >> np.uint64(64 - bits)).astype(np.float32)
    return whole / np.float32(2 ** (bits - 1)) - np.float32(1)


def weight(name, shape, dtype):
    u = units(name, int(np.prod(shape)), 24 if dtype == "f32" else 7)
    if name.endswith("norm.weight"):
        u = np.float32(1) + u * np.float32(0.5)
    elif "embed_tokens" in name or "lm_head" in name:
        u = u * np.float32(0.5)
    elif name.endswith(".weight"):
        u = u * np.float32(0.375)
    elif name.endswith(".bias"):
        u = u * np.float32(0.25)
    return torch.from_numpy(u.reshape(shape))


def build(base, dtype, shape):
    settings = dict(base, max_position_embeddings=512, hidden_act="silu", use_sliding_window=False,
                    eos_token_id=0, bos_token_id=None, **shape)
    cls = transformers.Qwen3ForCausalLM if base is QWEN3 else transformers.LlamaForCausalLM
    plain = {k: v for k, v in settings.items() if k not in ("model_type", "architectures")}
    model = cls(cls.config_class(**plain, attn_implementation="eager")).eval()
    values = {n: weight(n, tuple(p.shape), dtype) for n, p in model.named_parameters()}
    missing, unexpected = model.load_state_dict(values, strict=False)
    assert not unexpected and all("lm_head" in m for m in missing), (missing, unexpected)
    model.tie_weights()
    settings["torch_dtype"] = {"f32": "float32", "bf16": "bfloat16"}[dtype]
    return settings, {n: list(v.shape) for n, v in values.items()}, model


def greedy(model, prompt):
    ids, gaps = list(prompt), []
    with torch.no_grad():
        for _ in range(TOKENS):
            top = model(torch.tensor([ids])).logits[0, -1].topk(2)
            gaps.append(float(top.values[0] - top.values[1]))
            ids.append(int(top.indices[0]))
        log_probs = model(torch.tensor([ids])).logits[0].double().log_softmax(-1)
    scores = [float(log_probs[i, ids[i + 1]]) for i in range(len(ids) - 1)]
    return ids, scores, min(gaps)


def main():
    torch.set_num_threads(1)
    out = []
    for name, (base, dtype, shape) in MODELS.items():
        config, tensors, model = build(base, dtype, shape)
        runs = []
        for length in PROMPT_LENGTHS:
            prompt = (splitmix(np.arange(length, dtype=np.uint64) + np.uint64(length)) % np.uint64(shape["vocab_size"])).tolist()
            ids, scores, gap = greedy(model, prompt)
            distinct = len(set(ids[length:]))
            print(name, length, "least gap", gap, "distinct", distinct, file=sys.stderr)
            runs.append(dict(prompt=length, ids=ids, scores=[round(s, 6) for s in scores], gap=round(gap, 6)))
        out.append(dict(name=name, dtype=dtype, config=config, tensors=tensors, runs=runs))
    json.dump(out, sys.stdout, separators=(",", ":"))
    print()


main()
