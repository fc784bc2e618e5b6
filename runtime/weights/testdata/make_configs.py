"""Writes configs.json: config.json files in the wild's spellings, and what transformers reads in them.

Needs torch and transformers. Run in this directory:
    python make_configs.py
"""

import json
import tempfile
from pathlib import Path

from transformers import AutoConfig, GenerationConfig
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

QWEN3 = dict(
    architectures=["Qwen3ForCausalLM"], model_type="qwen3", hidden_size=1024, intermediate_size=3072, num_hidden_layers=28,
    num_attention_heads=16, num_key_value_heads=8, head_dim=128, vocab_size=151936, max_position_embeddings=40960,
    rms_norm_eps=1e-6, hidden_act="silu", tie_word_embeddings=True, attention_bias=False, bos_token_id=151643,
    eos_token_id=151645, use_sliding_window=False, sliding_window=None, max_window_layers=28,
)
LLAMA = dict(
    architectures=["LlamaForCausalLM"], model_type="llama", hidden_size=576, intermediate_size=1536, num_hidden_layers=30,
    num_attention_heads=9, num_key_value_heads=3, vocab_size=49152, max_position_embeddings=8192, rms_norm_eps=1e-5,
)
LLAMA3 = {"factor": 32.0, "high_freq_factor": 4.0, "low_freq_factor": 1.0, "original_max_position_embeddings": 8192}

CASES = {
    "released qwen3": (QWEN3 | dict(rope_theta=1000000, rope_scaling=None, torch_dtype="bfloat16"), {"eos_token_id": [151645, 151643]}),
    "version 5 qwen3": (
        QWEN3 | dict(rope_parameters={"rope_theta": 1000000, "rope_type": "default"}, dtype="bfloat16", layer_types=["full_attention"] * 28),
        None,
    ),
    "qwen3 yarn, old key": (
        QWEN3 | dict(rope_theta=1e6, rope_scaling={"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768}),
        None,
    ),
    "qwen3 yarn, new key, own attention factor": (
        QWEN3
        | dict(rope_parameters={"rope_type": "yarn", "rope_theta": 5e6, "factor": 2.0, "attention_factor": 1.25, "beta_fast": 16.0}),
        {"eos_token_id": 7},
    ),
    "yarn with mscale": (
        QWEN3 | dict(rope_scaling={"rope_type": "yarn", "factor": 40.0, "mscale": 0.7, "mscale_all_dim": 1.0}, rope_theta=10000.0),
        None,
    ),
    "llama without head_dim": (LLAMA | dict(rope_theta=100000, bos_token_id=1, eos_token_id=2), None),
    "llama defaults": (
        {k: v for k, v in LLAMA.items() if k not in ("num_key_value_heads", "rms_norm_eps", "max_position_embeddings")},
        {"bos_token_id": 1},
    ),
    "llama 3.2": (
        LLAMA
        | dict(rope_theta=500000.0, rope_scaling=LLAMA3 | {"rope_type": "llama3"}, attention_bias=True, mlp_bias=True, head_dim=32),
        {"eos_token_id": [128001, 128008, 128009]},
    ),
    "qwen3 defaults": ({k: v for k, v in QWEN3.items() if k not in ("num_key_value_heads", "head_dim")} | dict(num_attention_heads=64), None),
    "qwen3 without groups": (QWEN3 | dict(num_key_value_heads=None, num_attention_heads=4), None),
    "linear scaling": (LLAMA | dict(rope_scaling={"type": "linear", "factor": 4.0}, eos_token_id=[5, 6]), None),
}


def want(directory):
    c = AutoConfig.from_pretrained(directory)
    if (Path(directory) / "generation_config.json").exists():
        eos = GenerationConfig.from_pretrained(directory).eos_token_id
    else:
        eos = None
    if eos is None:
        eos = c.eos_token_id
    rope = dict(c.rope_parameters)
    _, scale = ROPE_INIT_FUNCTIONS[rope["rope_type"]](c, "cpu") if rope["rope_type"] != "default" else (None, 1.0)
    return {
        "Hidden": c.hidden_size, "Layers": c.num_hidden_layers, "Heads": c.num_attention_heads,
        "KVHeads": c.num_key_value_heads, "HeadDim": c.head_dim, "FFN": c.intermediate_size, "Vocab": c.vocab_size,
        "Context": c.max_position_embeddings, "NormEps": c.rms_norm_eps, "Tie": c.tie_word_embeddings,
        "AttentionBias": c.attention_bias, "MLPBias": getattr(c, "mlp_bias", False),
        "EOS": eos if isinstance(eos, list) else [eos], "Rope": rope, "Scale": scale,
    }


def main():
    rows = []
    for name, (config, generation) in CASES.items():
        with tempfile.TemporaryDirectory() as directory:
            (Path(directory) / "config.json").write_text(json.dumps(config))
            if generation:
                (Path(directory) / "generation_config.json").write_text(json.dumps(generation))
            rows.append({"Name": name, "Config": config, "Generation": generation, "Want": want(directory)})
    Path("configs.json").write_text("[\n" + ",\n".join(json.dumps(r) for r in rows) + "\n]\n")


if __name__ == "__main__":
    main()
