"""Makes golden.json: Philox draws from numpy, filters from transformers.

    python golden.py > golden.json
"""

import hashlib
import json
import sys

import numpy as np
import torch
from transformers.generation import logits_process as lp


def draws():
    out = []
    for seed, request in [(0, ""), (1, "abc/0"), (2**64 - 1, "question 17, sample 3")]:
        digest = hashlib.sha256(seed.to_bytes(8, "little") + request.encode()).digest()
        key = np.frombuffer(digest[:16], dtype="<u8")
        for position in (0, 1, 4095):
            # numpy steps the counter before its first block.
            start = (position - 1) % 2**256
            words = [(start >> (64 * i)) & (2**64 - 1) for i in range(4)]
            raw = np.random.Philox(counter=np.array(words, dtype=np.uint64), key=key).random_raw()
            out.append(dict(seed=str(seed), request=request, position=position, uniform=(int(raw) >> 11) / 2**53))
    return out


SETTINGS = [
    dict(temperature=0.6, top_p=0.95),
    dict(temperature=1.0, top_p=0.3),
    dict(temperature=1.0, top_k=1),
    dict(temperature=0.8, top_k=7),
    dict(temperature=1.3, top_k=40, top_p=0.9, min_p=0.05),
    dict(temperature=1.0, min_p=0.2),
    dict(temperature=2.0, top_p=0.999),
    dict(temperature=0.7, top_p=0.8, min_p=0.1, penalty=1.5),
    dict(temperature=0.01, top_p=0.95),
    dict(temperature=1.0, top_k=1000, top_p=0.5),
    dict(temperature=5.0, top_p=0.9),
]


def filters():
    rng = np.random.default_rng(7)
    out = []
    for i, s in enumerate(SETTINGS):
        n = 61
        # Multiples of 1/8: exact in JSON, and with ties.
        logits = np.round(rng.normal(size=n) * 3 * 8).astype(np.float32) / 8
        history = [int(x) for x in rng.integers(0, n, 9)]
        ids, scores = torch.tensor([history]), torch.from_numpy(logits)[None]
        if "penalty" in s:
            scores = lp.RepetitionPenaltyLogitsProcessor(s["penalty"])(ids, scores)
        scores = lp.TemperatureLogitsWarper(s["temperature"])(ids, scores)
        if s.get("top_k"):
            scores = lp.TopKLogitsWarper(min(s["top_k"], n))(ids, scores)
        if s.get("top_p"):
            scores = lp.TopPLogitsWarper(s["top_p"])(ids, scores)
        if s.get("min_p"):
            scores = lp.MinPLogitsWarper(s["min_p"])(ids, scores)
        probs = scores.double().softmax(-1)[0]
        kept = {str(j): float(probs[j]) for j in range(n) if probs[j] > 0}
        log_probs = (torch.from_numpy(logits).double() / s["temperature"]).log_softmax(-1)
        out.append(dict(settings=s, logits=logits.tolist(), history=history, kept=kept, log_probs=log_probs.tolist()))
    return out


json.dump(dict(draws=draws(), filters=filters()), sys.stdout, separators=(",", ":"))
print()
