"""Writes golden.json: numpy's permutations, as digests.

A digest is the sum of (perm[i] + 1) * weight(i) modulo 2**64, with the weights
of WEIGHTS. `golden.py FROM TO` prints one digest over all n of the range
instead, for the slow test.

"""

import json
import sys

import numpy as np

WEIGHTS = (np.arange(1, 200_001, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)) ^ np.uint64(0xD1B54A32D192ED03)


def digest(seed, n):
    perm = np.random.default_rng(seed).permutation(n).astype(np.uint64)
    return int(np.sum((perm + np.uint64(1)) * WEIGHTS[:n]))


if len(sys.argv) > 2:
    total = 0
    for n in range(int(sys.argv[1]), int(sys.argv[2]) + 1):
        total = (total * 31 + digest(42, n)) % 2**64
    print(total)
else:
    cases = [(42, n) for n in [1, 2, 3, 10, 100, 250, 255, 256, 257, 1000, 4096, 4097, 50_000, 65_536, 65_537, 100_000, 200_000]]
    cases += [(seed, 1000) for seed in [0, 1, 7, 2**32 - 1, 2**32, 2**63, 2**64 - 1]]
    total = 0
    for n in range(1, 2001):
        total = (total * 31 + digest(42, n)) % 2**64
    print(json.dumps({
        "cases": [{"seed": str(s), "n": n, "digest": str(digest(s, n))} for s, n in cases],
        "upTo": 2000,
        "total": str(total),
        "first": {str(n): np.random.default_rng(42).permutation(n)[:10].tolist() for n in [10, 100, 250, 50_000]},
    }, indent=1))
