"""Makes golden_rope.json: the inverse frequencies and scales of transformers.

    python golden_rope.py > golden_rope.json
"""

import json
import sys

import transformers
from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding

CASES = [
    (128, 40960, dict(rope_type="default", rope_theta=1e6)),
    (64, 8192, dict(rope_type="default", rope_theta=1e5)),
    (20, 512, dict(rope_type="linear", rope_theta=1e4, factor=2.5)),
    (128, 131072, dict(rope_type="llama3", rope_theta=5e5, factor=8.0, low_freq_factor=1.0,
                       high_freq_factor=4.0, original_max_position_embeddings=8192)),
    (64, 131072, dict(rope_type="llama3", rope_theta=5e5, factor=32.0, low_freq_factor=1.0,
                      high_freq_factor=4.0, original_max_position_embeddings=8192)),
    (128, 131072, dict(rope_type="yarn", rope_theta=1e6, factor=4.0, original_max_position_embeddings=32768)),
    (24, 256, dict(rope_type="yarn", rope_theta=1e4, factor=2.0, original_max_position_embeddings=128,
                   beta_fast=16.0, beta_slow=2.0, attention_factor=1.25)),
]

out = []
for head_dim, context, rope in CASES:
    config = transformers.LlamaConfig(
        hidden_size=4 * head_dim, num_attention_heads=4, head_dim=head_dim,
        max_position_embeddings=context, rope_parameters=dict(rope))
    rotary = LlamaRotaryEmbedding(config)
    out.append(dict(head_dim=head_dim, rope=rope, scale=rotary.attention_scaling,
                    freq=[float(f) for f in rotary.inv_freq]))
json.dump(out, sys.stdout, separators=(",", ":"))
print()
