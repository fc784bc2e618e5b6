"""Makes golden_smollm2.json: greedy tokens of transformers (torch, float32) on
SmolLM2-135M-Instruct's GGUF, its weights dequantised by the gguf package.

    python golden_smollm2.py SmolLM2-135M-Instruct.Q4_1.gguf > golden_smollm2.json

For each of 20 prompts: the prompt's ids, 64 greedy ids, and the gap between the
two highest logits before each.
"""

import json
import os
import sys

import gguf
import numpy as np
import torch
import transformers

PROMPTS = [
    "The capital of France is",
    "def fibonacci(n):\n",
    "Once upon a time, in a small village,",
    "Water boils at",
    "import numpy as np\n\ndef mean(values):",
    "1, 1, 2, 3, 5, 8, 13,",
    "The quick brown fox",
    "In 1969, the first humans",
    "SELECT name, age FROM users WHERE",
    "Dear Sir or Madam,",
    "La tour Eiffel se trouve",
    "To sort a list in Python, you can",
    "The derivative of x^2 is",
    "for (int i = 0; i < n; i++) {",
    "Photosynthesis is the process by which",
    "<|im_start|>user\nWrite a function that adds two numbers.<|im_end|>\n<|im_start|>assistant\n",
    "<|im_start|>user\nWhat is a prime number?<|im_end|>\n<|im_start|>assistant\n",
    "<|im_start|>system\nYou are a poet.<|im_end|>\n<|im_start|>user\nSing of the sea.<|im_end|>\n<|im_start|>assistant\n",
    "Ingredients:\n- 2 cups of flour\n- 1 cup of sugar\n-",
    "Q: How many legs does a spider have?\nA:",
]
TOKENS = 64


NAMES = {
    "attn_norm": "input_layernorm", "ffn_norm": "post_attention_layernorm",
    "attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj", "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj", "ffn_down": "mlp.down_proj",
}


def build(reader):
    def field(key):
        f = reader.fields["llama." + key]
        return f.parts[f.data[0]][0].item()

    heads, kv_heads = field("attention.head_count"), field("attention.head_count_kv")
    values = {}
    for t in reader.tensors:
        w = gguf.quants.dequantize(t.data, t.tensor_type).astype(np.float32)
        name = t.name.removesuffix(".weight")
        if name.startswith("blk."):
            _, layer, part = name.split(".")
            if part in ("attn_q", "attn_k"):  # undo the converter's interleaving
                n = heads if part == "attn_q" else kv_heads
                w = w.reshape(n, w.shape[0] // n // 2, 2, -1).swapaxes(1, 2).reshape(w.shape)
            name = f"model.layers.{layer}.{NAMES[part]}"
        else:
            name = {"token_embd": "model.embed_tokens", "output_norm": "model.norm"}[name]
        values[name + ".weight"] = torch.from_numpy(w.copy())
    vocab = values["model.embed_tokens.weight"].shape[0]
    config = transformers.LlamaConfig(
        hidden_size=field("embedding_length"), num_hidden_layers=field("block_count"),
        num_attention_heads=heads, num_key_value_heads=kv_heads,
        intermediate_size=field("feed_forward_length"), vocab_size=vocab,
        max_position_embeddings=field("context_length"), rope_theta=field("rope.freq_base"),
        rms_norm_eps=field("attention.layer_norm_rms_epsilon"), tie_word_embeddings=True,
        attn_implementation="eager")
    model = transformers.LlamaForCausalLM(config).eval()
    missing, unexpected = model.load_state_dict(values, strict=False)
    assert not unexpected and missing == ["lm_head.weight"], (missing, unexpected)
    model.tie_weights()
    return model


def main():
    torch.set_num_threads(1)
    path = sys.argv[1]
    reader = gguf.GGUFReader(path)
    model = build(reader)
    tokenizer = transformers.AutoTokenizer.from_pretrained(os.path.dirname(os.path.abspath(path)), gguf_file=os.path.basename(path))
    runs = []
    for prompt in PROMPTS:
        ids = tokenizer(prompt, add_special_tokens=False).input_ids
        step, cache, tokens, gaps = torch.tensor([ids]), None, [], []
        with torch.no_grad():
            for _ in range(TOKENS):
                out = model(step, past_key_values=cache, use_cache=True)
                cache = out.past_key_values
                top = out.logits[0, -1].topk(2)
                gaps.append(round(float(top.values[0] - top.values[1]), 5))
                tokens.append(int(top.indices[0]))
                step = torch.tensor([[tokens[-1]]])
        print(repr(prompt), "least gap", min(gaps), repr(tokenizer.decode(tokens))[:60], file=sys.stderr)
        runs.append(dict(prompt=ids, tokens=tokens, gaps=gaps))
    json.dump(runs, sys.stdout, separators=(",", ":"))
    print()


main()
