"""Writes smollm2-q4_1.json: the SHA-256 (first 16 digits) of every tensor of SmolLM2-135M-Instruct's Q4_1 GGUF as float32.

gguf decodes the values; rows of q and k go back to Hugging Face's order as transformers' reader does it.
Needs numpy and gguf. Run: python make_smollm2.py SmolLM2-135M-Instruct.Q4_1.gguf > smollm2-q4_1.json
"""

import hashlib
import json
import sys

import gguf
import numpy as np

LAYER = "input_layernorm post_attention_layernorm mlp.gate_proj mlp.up_proj mlp.down_proj".split()
LAYER += [f"self_attn.{x}_proj" for x in "qkvo"]
STEMS = ["model.embed_tokens", "model.norm"] + [f"model.layers.{i}.{part}" for i in range(30) for part in LAYER]


def hugging_face_rows(rows, heads):
    half = rows.shape[0] // heads // 2
    return rows.reshape(heads, half, 2, -1).swapaxes(1, 2).reshape(rows.shape)


def main():
    tensors = {t.name: t for t in gguf.GGUFReader(sys.argv[1]).tensors}
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.LLAMA, 30)
    sums = {}
    for stem in STEMS:
        t = tensors.pop(names.get_name(stem) + ".weight")
        values = gguf.quants.dequantize(t.data, t.tensor_type).astype("<f4")
        if stem.endswith(("q_proj", "k_proj")):
            values = hugging_face_rows(values, 9 if stem.endswith("q_proj") else 3)
        sums[stem + ".weight"] = hashlib.sha256(np.ascontiguousarray(values).tobytes()).hexdigest()[:16]
    assert not tensors
    print(json.dumps(sums, indent=0, sort_keys=True))


main()
