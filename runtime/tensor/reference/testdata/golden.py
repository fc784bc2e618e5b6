"""Writes golden.json: the operations by torch in float64, and GGUF blocks by
the gguf package. Needs torch, numpy and gguf."""

import base64
import json
import math
import pathlib

import gguf
import numpy as np
import torch

rng = np.random.default_rng(7)


def values(*shape, scale=1.0):
    return (rng.standard_normal(shape) * scale).astype(np.float32)


def flat(a):
    a = a.numpy() if isinstance(a, torch.Tensor) else a
    return [float(np.float32(v)) for v in a.reshape(-1)]


def decode():
    for name in ["F16", "BF16", "Q8_0", "Q4_0", "Q4_1"]:
        kind = getattr(gguf.GGMLQuantizationType, name)
        stored = gguf.quants.quantize(values(2, 96), kind)
        yield {
            "type": name,
            "stored": base64.b64encode(stored.tobytes()).decode(),
            "values": flat(gguf.quants.dequantize(stored, kind)),
        }


def half():
    """Every kind of binary16: zeros, subnormals, normals, infinities."""
    bits = np.array([0, 0x8000, 1, 0x8001, 0x3FF, 0x400, 0x3C00, 0xC000, 0x7BFF, 0x3555, 0x7C00, 0xFC00], np.uint16)
    return {"bits": bits.tolist(), "values": [str(v) for v in bits.view(np.float16).astype(np.float64)]}


def rms_norm():
    x, w = values(3, 19), values(19)
    t = torch.from_numpy(x).double()
    y = torch.nn.functional.rms_norm(t, [19], torch.from_numpy(w).double(), 1e-5)
    return {"x": flat(x), "weight": flat(w), "eps": 1e-5, "want": flat(y)}


def mat_mul():
    x, w = values(5, 23), values(7, 23)
    y = torch.from_numpy(x).double() @ torch.from_numpy(w).double().T
    return {"x": flat(x), "w": flat(w), "m": 5, "n": 7, "k": 23, "want": flat(y)}


def silu_mul():
    gate, up = values(29, scale=8), values(29)
    y = torch.nn.functional.silu(torch.from_numpy(gate).double()) * torch.from_numpy(up).double()
    return {"gate": flat(gate), "up": flat(up), "want": flat(y)}


def rope():
    """As transformers: cosine and sine of angles held in float32, rotate_half."""
    n, heads, half, scale = 4, 3, 5, 1.25
    positions = torch.tensor([0, 3, 100, 30000])
    inv = (10000.0 ** (-torch.arange(half) / half)).float()
    x = torch.from_numpy(values(n, heads, 2 * half)).double()
    angle = positions.float()[:, None] * inv[None, :]
    angle = torch.cat([angle, angle], -1).double()[:, None, :]
    rotated = torch.cat([-x[..., half:], x[..., :half]], -1)
    y = (x * angle.cos() + rotated * angle.sin()) * scale
    return {
        "x": flat(x), "positions": positions.tolist(), "invFreq": flat(inv), "heads": heads, "scale": scale, "want": flat(y),
    }


def attention():
    """Rows of two sequences over a paged cache, by scaled_dot_product_attention."""
    heads, kv, dim, page = 6, 2, 10, 32
    pages = [[2, 0], [1]]
    seq, pos = [0, 0, 1, 1], [39, 40, 0, 31]
    k, v, q = values(3 * page, kv, dim), values(3 * page, kv, dim), values(4, heads, dim)
    scale = 1 / math.sqrt(dim)
    out = []
    for i in range(4):
        at = [pages[seq[i]][p // page] * page + p % page for p in range(pos[i] + 1)]
        ks, vs = (torch.from_numpy(a[at]).double().transpose(0, 1).repeat_interleave(heads // kv, 0) for a in (k, v))
        qs = torch.from_numpy(q[i]).double()[:, None, :]
        out.append(torch.nn.functional.scaled_dot_product_attention(qs, ks, vs, scale=scale)[:, 0])
    return {
        "q": flat(q), "k": flat(k), "v": flat(v), "heads": heads, "kv": kv, "dim": dim, "scale": scale,
        "pages": pages, "seq": seq, "pos": pos, "want": flat(torch.stack(out)),
    }


golden = {
    "decode": list(decode()), "half": half(), "rmsNorm": rms_norm(), "matMul": mat_mul(),
    "siluMul": silu_mul(), "rope": rope(), "attention": attention(),
}
pathlib.Path(__file__).with_name("golden.json").write_text(json.dumps(golden) + "\n")
