"""Makes the small checkpoints beside this script, and what other libraries read in them.

Needs torch, transformers, safetensors, gguf. Run in this directory:
    python make_checkpoints.py
"""

import json
import shutil
from pathlib import Path

import gguf
import numpy as np
import torch
from safetensors.torch import save_file
from transformers import AutoModelForCausalLM, LlamaConfig, LlamaForCausalLM, Qwen3Config, Qwen3ForCausalLM

torch.manual_seed(20)
SMALL = dict(
    vocab_size=48, hidden_size=32, intermediate_size=64, num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=128
)


def randomise(model):
    """Every tensor, norms and biases too, gets values no two of which agree."""
    for p in model.parameters():
        torch.nn.init.normal_(p, std=0.5)
    return model


def folders():
    """A single bf16 file with tied embeddings, and f32 shards without."""
    config = Qwen3Config(**SMALL, num_hidden_layers=1, head_dim=16, tie_word_embeddings=True, eos_token_id=3)
    model = randomise(Qwen3ForCausalLM(config)).to(torch.bfloat16)
    model.generation_config.eos_token_id = [3, 5]
    model.save_pretrained("qwen3-single")
    values = {k: v.float() for k, v in model.state_dict().items() if k != "lm_head.weight"}
    save_file(values, "qwen3-single.f32.safetensors", metadata={"format": "pt"})

    config = LlamaConfig(**SMALL, num_hidden_layers=2, attention_bias=True, tie_word_embeddings=False)
    model = randomise(LlamaForCausalLM(config))
    model.save_pretrained("llama-sharded", max_shard_size="30KB")
    listed = {k: v.flatten()[:: max(1, v.numel() // 7)].tolist() for k, v in model.state_dict().items()}
    Path("llama-sharded.json").write_text(json.dumps(listed))


def permute(rows, heads):
    """The row order of llama.cpp's converter for q and k of the llama architecture."""
    return rows.reshape(heads, 2, rows.shape[0] // heads // 2, *rows.shape[1:]).swapaxes(1, 2).reshape(rows.shape)


Q = gguf.GGMLQuantizationType
CYCLE = [Q.Q4_1, Q.Q8_0, Q.F16, Q.Q4_0, Q.BF16, Q.F32]


def gguf_name(arch, name):
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH[arch.upper()], 8)
    stem, suffix = name.rsplit(".", 1)
    return names.get_name(stem) + "." + suffix


def write_gguf(path, arch, model, head_dim):
    config = model.config
    w = gguf.GGUFWriter(path, arch)
    w.add_context_length(config.max_position_embeddings)
    w.add_embedding_length(config.hidden_size)
    w.add_block_count(config.num_hidden_layers)
    w.add_feed_forward_length(config.intermediate_size)
    w.add_head_count(config.num_attention_heads)
    w.add_head_count_kv(config.num_key_value_heads)
    w.add_layer_norm_rms_eps(1e-5)
    w.add_rope_freq_base(50000.0)
    w.add_vocab_size(config.vocab_size)
    if head_dim:
        w.add_key_length(head_dim)
        w.add_value_length(head_dim)
    w.add_tokenizer_model("gpt2")
    w.add_tokenizer_pre("smollm")
    tokens = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"] + [f"t{i}" for i in range(3, config.vocab_size)]
    w.add_token_list(tokens)
    w.add_token_types([3, 3, 3] + [1] * (config.vocab_size - 3))
    w.add_token_merges(["t 1", "Ġ a"])
    w.add_bos_token_id(1)
    w.add_eos_token_id(2)
    w.add_add_bos_token(True)
    w.add_chat_template("{{ messages }}")
    count, decoded = 0, {}
    for name, tensor in model.state_dict().items():
        if name == "lm_head.weight" and config.tie_word_embeddings:
            continue
        values = tensor.numpy()
        if arch == "llama" and (".q_proj." in name or ".k_proj." in name):
            values = permute(values, config.num_attention_heads if ".q_" in name else config.num_key_value_heads)
        kind = Q.F32
        if values.ndim == 2:
            kind, count = CYCLE[count % len(CYCLE)], count + 1
        data = gguf.quants.quantize(np.ascontiguousarray(values), kind)
        w.add_tensor(gguf_name(arch, name), data, raw_dtype=kind)
        decoded[name] = torch.from_numpy(gguf.quants.dequantize(data, kind).reshape(values.shape).copy())
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.write_tensors_to_file()
    w.close()
    return decoded


def ggufs():
    """The golden of a llama file is what transformers makes of it: names, order of rows, values.

    transformers takes a qwen3 file's head size for 128, so there it is gguf's decoding; no rows move in it.
    """
    config = LlamaConfig(**SMALL, num_hidden_layers=2, tie_word_embeddings=True)
    write_gguf("llama.gguf", "llama", randomise(LlamaForCausalLM(config)), None)
    model = AutoModelForCausalLM.from_pretrained(".", gguf_file="llama.gguf", dtype=torch.float32)
    state = {k: v.clone() for k, v in model.state_dict().items() if k != "lm_head.weight"}
    save_file(state, "llama.gguf.f32.safetensors", metadata={"format": "pt"})

    config = Qwen3Config(**SMALL, num_hidden_layers=1, head_dim=16, tie_word_embeddings=False)
    state = write_gguf("qwen3.gguf", "qwen3", randomise(Qwen3ForCausalLM(config)), 16)
    save_file(state, "qwen3.gguf.f32.safetensors", metadata={"format": "pt"})


def types():
    """One safetensors file with every element type that is used, and some that are not."""
    half = torch.tensor([1.0, -2.5, 6e-8, 65504.0, float("inf"), -0.0])
    save_file(
        {
            "z.f32": torch.tensor([[1.5, -0.1], [3e38, 1e-40]]),
            "f16": half.to(torch.float16),
            "bf16": half.to(torch.bfloat16),
            "i32": torch.tensor([-7, 2**31 - 1], dtype=torch.int32),
            "i64": torch.tensor([1, 2]),
            "f8": torch.tensor([1.0, 2.0]).to(torch.float8_e4m3fn),
            "scalar": torch.tensor(2.0),
            "empty": torch.zeros(0, 3),
        },
        "types.safetensors",
        metadata={"format": "pt"},
    )
    # Only types that can be written: the layout must come out byte for byte.
    save_file(
        {"b.norm": torch.ones(3).to(torch.bfloat16), "a.proj": torch.arange(6.0).reshape(2, 3), "c": torch.arange(5, dtype=torch.int32)},
        "layout.safetensors",
        metadata={"format": "pt"},
    )


def roundings():
    """float32 bits and the bf16 bits torch rounds them to; f16 bits and the float32 bits they mean."""
    rng = np.random.default_rng(3)
    edges = [0, 1 << 31, 0x3F808000, 0x3F818000, 0x3F808001, 0x3F807FFF, 0x7F7FFFFF, 0x7F800000, 0xFF800000, 1, 0x8000, 0x7F7F8000]
    bits = np.array(edges + rng.integers(0, 0x7F000000, 200).tolist(), dtype=np.uint32)
    rounded = torch.from_numpy(bits.view(np.float32).copy()).to(torch.bfloat16).view(torch.uint16).tolist()
    halves = np.array([0, 0x8000, 1, 0x3FF, 0x8400, 0x7BFF, 0x7C00, 0xFC00, *range(5, 0x7C00, 331)], dtype=np.uint16)
    wide = halves.view(np.float16).astype(np.float32).view(np.uint32).tolist()
    golden = {"f32": bits.tolist(), "bf16": rounded, "f16": halves.tolist(), "wide": wide}
    Path("roundings.json").write_text(json.dumps(golden))


def ggml_types():
    """Every ggml type: number, name, values and bytes of a block."""
    sizes = [[int(t), t.name, *gguf.GGML_QUANT_SIZES[t]] for t in Q]
    Path("ggml-types.json").write_text(json.dumps(sizes))


if __name__ == "__main__":
    for old in "qwen3-single", "llama-sharded":
        shutil.rmtree(old, ignore_errors=True)
    folders()
    ggufs()
    types()
    roundings()
    ggml_types()
