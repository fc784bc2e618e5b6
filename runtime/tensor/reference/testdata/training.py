"""Writes training.json: gradients of the operations by torch.autograd in
float64, steps of torch.optim.AdamW in float32, and conversions by torch. Needs
torch and numpy."""

import json
import math
import pathlib

import numpy as np
import torch

rng = np.random.default_rng(11)


def values(*shape, scale=1.0):
    return (rng.standard_normal(shape) * scale).astype(np.float32)


def flat(a):
    a = a.detach().numpy() if isinstance(a, torch.Tensor) else a
    return [float(np.float32(v)) for v in a.reshape(-1)]


def leaf(a):
    return torch.from_numpy(a).double().requires_grad_()


def mat_mul():
    m, n, k = 5, 7, 9
    x, w, dy = values(m, k), values(n, k), values(m, n)
    tx, tw = leaf(x), leaf(w)
    (tx @ tw.T).backward(torch.from_numpy(dy).double())
    return {"m": m, "n": n, "k": k, "x": flat(x), "w": flat(w), "dy": flat(dy), "dx": flat(tx.grad), "dw": flat(tw.grad)}


def rms_norm():
    x, w, dy = values(3, 19), values(19), values(3, 19)
    tx, tw = leaf(x), leaf(w)
    torch.nn.functional.rms_norm(tx, [19], tw, 1e-5).backward(torch.from_numpy(dy).double())
    return {"eps": 1e-5, "x": flat(x), "weight": flat(w), "dy": flat(dy), "dx": flat(tx.grad), "dweight": flat(tw.grad)}


def silu_mul():
    gate, up, dy = values(29, scale=6), values(29), values(29)
    tg, tu = leaf(gate), leaf(up)
    (torch.nn.functional.silu(tg) * tu).backward(torch.from_numpy(dy).double())
    return {"gate": flat(gate), "up": flat(up), "dy": flat(dy), "dgate": flat(tg.grad), "dup": flat(tu.grad)}


def attention():
    """Segments of 1, 0 and 13 rows, by scaled_dot_product_attention; lse by logsumexp."""
    heads, kv, dim, starts = 6, 2, 5, [0, 1, 1, 14]
    n, scale = starts[-1], 1 / math.sqrt(5)
    q, k, v, dy = values(n, heads, dim, scale=2), values(n, kv, dim), values(n, kv, dim), values(n, heads, dim)
    tq, tk, tv = leaf(q), leaf(k), leaf(v)
    outs, norms = [], []
    for lo, hi in zip(starts, starts[1:]):
        if lo == hi:
            continue
        qs = tq[lo:hi].transpose(0, 1)
        ks, vs = (t[lo:hi].transpose(0, 1).repeat_interleave(heads // kv, 0) for t in (tk, tv))
        outs.append(torch.nn.functional.scaled_dot_product_attention(qs, ks, vs, is_causal=True, scale=scale).transpose(0, 1))
        hidden = torch.ones(hi - lo, hi - lo, dtype=torch.bool).triu(1)
        norms.append((scale * qs @ ks.transpose(1, 2)).masked_fill(hidden, -math.inf).logsumexp(-1).T)
    out = torch.cat(outs)
    out.backward(torch.from_numpy(dy).double())
    return {
        "heads": heads, "kv": kv, "dim": dim, "starts": starts, "scale": scale,
        "q": flat(q), "k": flat(k), "v": flat(v), "dy": flat(dy), "out": flat(out), "lse": flat(torch.cat(norms)),
        "dq": flat(tq.grad), "dk": flat(tk.grad), "dv": flat(tv.grad),
    }


def log_probs():
    vocab, targets, temperature = 17, [16, 0, 5], 0.7
    logits, dlogp, dentropy = values(3, vocab, scale=3), values(3), values(3)
    t = leaf(logits)
    d = torch.distributions.Categorical(logits=t / float(np.float32(temperature)))
    logp, entropy = d.log_prob(torch.tensor(targets)), d.entropy()
    dp, de = torch.from_numpy(dlogp).double(), torch.from_numpy(dentropy).double()
    (logp * dp).sum().backward(retain_graph=True)
    alone = t.grad.clone()
    (entropy * de).sum().backward()
    return {
        "temperature": temperature, "targets": targets, "logits": flat(logits), "dlogp": flat(dlogp),
        "dentropy": flat(dentropy), "logp": flat(logp), "entropy": flat(entropy),
        "lse": flat((t / float(np.float32(temperature))).logsumexp(-1)), "dlogits": flat(alone), "dlogitsEntropy": flat(t.grad),
    }


def adamw():
    """Three steps with the gradient scaled, as clipping does."""
    options = {"lr": 0.01, "betas": (0.9, 0.95), "eps": 1e-6, "weight_decay": 0.1}
    start, scale = values(23), 0.25
    p = torch.nn.Parameter(torch.from_numpy(start).double())
    optimiser = torch.optim.AdamW([p], **options)
    grads, after = [], []
    for _ in range(3):
        g = values(23)
        p.grad = torch.from_numpy(g).double() * scale
        optimiser.step()
        grads.append(flat(g))
        after.append(flat(p))
    state = optimiser.state[p]
    return {
        "lr": 0.01, "beta1": 0.9, "beta2": 0.95, "eps": 1e-6, "weightDecay": 0.1, "gradScale": scale, "start": flat(start),
        "grads": grads, "after": after, "m": flat(state["exp_avg"]), "v": flat(state["exp_avg_sq"]),
    }


def convert():
    """Ties, subnormals, overflow, and ordinary values."""
    edge = [0.0, -0.0, 1.0, 1 + 2**-8, 1 + 3 * 2**-8, 1 + 2**-11, 1 + 3 * 2**-11, 65504.0, 65519.0, 65520.0, -1e6, 3.4e38,
            2**-14, 2**-14 - 2**-25, 2**-24, 2**-25, 3 * 2**-25, 2**-26, 1e-40, math.inf, -math.inf]
    x = torch.tensor(np.concatenate([np.array(edge, np.float32), values(40), values(20, scale=1e-6)]))
    bits = {str(t): x.to(t).view(torch.int16).int().bitwise_and(0xFFFF).tolist() for t in (torch.float16, torch.bfloat16)}
    return {"x": x.view(torch.int32).tolist(), "F16": bits["torch.float16"], "BF16": bits["torch.bfloat16"]}


golden = {
    "matMul": mat_mul(), "rmsNorm": rms_norm(), "siluMul": silu_mul(), "attention": attention(), "logProbs": log_probs(),
    "adamW": adamw(), "convert": convert(),
}
pathlib.Path(__file__).with_name("training.json").write_text(json.dumps(golden) + "\n")
