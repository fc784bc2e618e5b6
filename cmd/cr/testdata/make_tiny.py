"""Makes tiny/, a complete model in Hugging Face layout (Qwen3, bf16) that knows
how to hold a conversation, though nobody trained it. Needs torch, safetensors.

    python make_tiny.py

Its tokenizer is that of runtime/chat's tests with a few more tokens, each a
whole piece of an answer: a tool call, a fence, a program. Its weights are made
by hand: the embedding of such a piece is an axis of its own, all other tokens
share axis 0, and the output projection holds the log-probabilities of what may
follow. So the model is a Markov chain over pieces; small random attention and
MLP weights stir it by what stands in the prompt. It calls its tool (well and
badly), and writes programs that solve some of the bundled problems.
"""

import json
import math
import pathlib

import torch
from safetensors.torch import save_file

HERE = pathlib.Path(__file__).parent
SOURCE = HERE / "../../../runtime/chat/testdata/tiny"
TINY = HERE / "tiny"
HIDDEN, HEADS, KV_HEADS, HEAD_DIM, MLP, LAYERS = 64, 4, 2, 16, 48, 2
RARE = -12.0  # log-probability of whatever is not listed

PIECES = {
    "good_call": '\n{"name": "code_interpreter", "arguments": {"code": "print(6 * 7)"}}\n',
    "failing_call": '\n{"name": "code_interpreter", "arguments": {"code": "int(\'x\')"}}\n',
    "broken_call": '\n{"name": "code_interpreter", "arguments": {"code": \n',
    "thought": "\nThe examples say enough.\n",
    "intro": "Here is the program.\n\n",
    "fence": "```python\n",
    "sum": "a, b = map(int, input().split())\nprint(a + b)\n",
    "reverse": "print(input().strip()[::-1])\n",
    "largest": "input()\nprint(max(map(int, input().split())))\n",
    "fails": "print(int('x'))\n",
    "end_fence": "```",
    "no_idea": "I do not know.",
}

# What follows what. "start" is any token that is no piece.
FOLLOWS = {
    "start": {"<tool_call>": 0.35, "<think>": 0.15, "intro": 0.2, "fence": 0.25, "no_idea": 0.05},
    "<tool_call>": {"good_call": 0.6, "failing_call": 0.2, "broken_call": 0.2},
    "good_call": {"</tool_call>": 1}, "failing_call": {"</tool_call>": 1}, "broken_call": {"</tool_call>": 1},
    "</tool_call>": {"<|im_end|>": 0.8, "<tool_call>": 0.2},
    "<think>": {"thought": 1},
    "thought": {"</think>": 1},
    "</think>": {"fence": 0.6, "<tool_call>": 0.4},
    "intro": {"fence": 1},
    "fence": {"sum": 0.35, "reverse": 0.35, "largest": 0.2, "fails": 0.1},
    "sum": {"end_fence": 1}, "reverse": {"end_fence": 1}, "largest": {"end_fence": 1}, "fails": {"end_fence": 1},
    "end_fence": {"<|im_end|>": 1},
    "no_idea": {"<|im_end|>": 1},
}


def tokenizer():
    """Writes the tokenizer; returns the ids of all added tokens by name."""
    t = json.loads((SOURCE / "tokenizer.json").read_text())
    ids = {a["content"]: a["id"] for a in t["added_tokens"]}
    plain = next(a for a in t["added_tokens"] if not a["special"])
    for name, content in PIECES.items():
        ids[name] = max(ids.values()) + 1
        t["added_tokens"].append(dict(plain, id=ids[name], content=content))
    (TINY / "tokenizer.json").write_text(json.dumps(t, ensure_ascii=False, separators=(",", ":")))
    (TINY / "tokenizer_config.json").write_text((SOURCE / "tokenizer_config.json").read_text())
    return ids


def tensors(ids):
    vocab, axis = max(ids.values()) + 1, {name: i for i, name in enumerate(FOLLOWS)}
    stir = torch.Generator().manual_seed(1)

    def small(*shape):
        return torch.randn(*shape, generator=stir) * 0.02

    embed = torch.zeros(vocab, HIDDEN)
    embed[:, 0] = 1
    head = torch.zeros(vocab, HIDDEN)
    scale = math.sqrt(HIDDEN)  # what the final norm makes of a unit vector
    for name, nexts in FOLLOWS.items():
        if name != "start":
            embed[ids[name]] = 0
            embed[ids[name], axis[name]] = 1
        head[:, axis[name]] = RARE / scale
        for follower, p in nexts.items():
            head[ids[follower], axis[name]] = math.log(p) / scale
    out = {"model.embed_tokens.weight": embed, "lm_head.weight": head, "model.norm.weight": torch.ones(HIDDEN)}
    for i in range(LAYERS):
        at = f"model.layers.{i}."
        for norm in ("input_layernorm", "post_attention_layernorm"):
            out[f"{at}{norm}.weight"] = torch.ones(HIDDEN)
        for norm in ("q_norm", "k_norm"):
            out[f"{at}self_attn.{norm}.weight"] = torch.ones(HEAD_DIM)
        for name, heads in (("q_proj", HEADS), ("k_proj", KV_HEADS), ("v_proj", KV_HEADS)):
            out[f"{at}self_attn.{name}.weight"] = small(heads * HEAD_DIM, HIDDEN)
        out[f"{at}self_attn.o_proj.weight"] = small(HIDDEN, HEADS * HEAD_DIM)
        out[f"{at}mlp.gate_proj.weight"] = small(MLP, HIDDEN)
        out[f"{at}mlp.up_proj.weight"] = small(MLP, HIDDEN)
        out[f"{at}mlp.down_proj.weight"] = small(HIDDEN, MLP)
    return {name: t.to(torch.bfloat16).contiguous() for name, t in out.items()}


def main():
    TINY.mkdir(exist_ok=True)
    ids = tokenizer()
    config = dict(
        architectures=["Qwen3ForCausalLM"], model_type="qwen3", torch_dtype="bfloat16",
        hidden_size=HIDDEN, num_attention_heads=HEADS, num_key_value_heads=KV_HEADS, head_dim=HEAD_DIM,
        intermediate_size=MLP, num_hidden_layers=LAYERS, vocab_size=max(ids.values()) + 1,
        max_position_embeddings=4096, rms_norm_eps=1e-6, rope_theta=10000.0, hidden_act="silu",
        tie_word_embeddings=False, attention_bias=False, use_sliding_window=False,
        bos_token_id=None, eos_token_id=ids["<|im_end|>"],
    )
    (TINY / "config.json").write_text(json.dumps(config, indent=1) + "\n")
    save_file(tensors(ids), TINY / "model.safetensors", metadata={"format": "pt"})
    (TINY / "model.safetensors").chmod(0o644)


main()
