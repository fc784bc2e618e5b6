"""Measures the engine and llama.cpp in turn on one GGUF and prints their ratio.

Both get a prompt of 512 tokens and 64 new ones, for 1 and 4 samples of the one
prompt. Rounds alternate so that a busy neighbour hits both; the best round of
each counts, since noise only ever slows. The share of CPU time that the
processes got of what they asked for stands below the table: under 0.9 the
machine was busy and the figures are not worth keeping.
"""

import argparse
import os
import re
import resource
import subprocess
import time

SAMPLES = (1, 4)


def timed(command, threads, env=None):
    """Runs a command; returns its output and the CPU time used per wall time and thread."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.monotonic()
    out = subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=env).stdout
    wall = time.monotonic() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return out, used / wall / threads


def peer_round(args):
    command = [args.peer, "-m", args.model, "-c", "4096", "-npp", "512", "-ntg", "64",
               "-npl", ",".join(map(str, SAMPLES)), "-pps", "-t", str(args.threads)]
    out, share = timed(command, args.threads)
    figures = {}
    for line in out.splitlines():
        cells = [c.strip() for c in line.strip("| \n").split("|")]
        if len(cells) >= 8 and cells[0] == "512":
            figures[int(cells[2])] = float(cells[5]), float(cells[7])
    return figures, share


def engine_round(args, binary):
    env = dict(os.environ, CR_TEST_MODEL=os.path.abspath(args.model))
    command = [binary, "-test.run", "^$", "-test.bench", f"BenchmarkEngine/threads={args.threads}/", "-test.benchtime", "2x"]
    out, share = timed(command, args.threads, env)
    figures = {}
    for line in out.splitlines():
        samples = re.search(r"samples=(\d+)", line)
        prefill = re.search(r"([\d.]+) prefill-tok/s", line)
        decode = re.search(r"([\d.]+) decode-tok/s", line)
        if samples and prefill and decode:
            figures[int(samples[1])] = float(prefill[1]), float(decode[1])
    return figures, share


def best(rounds, samples, which):
    return max(r[samples][which] for r in rounds)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", required=True)
    parser.add_argument("--peer", required=True)
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()

    binary = os.path.abspath("build/bench/engine.test")
    os.makedirs(os.path.dirname(binary), exist_ok=True)
    subprocess.run(["go", "test", "-c", "-o", binary, "./runtime"], check=True)

    ours, theirs, shares = [], [], []
    for _ in range(args.rounds):
        for measure, into in ((lambda: engine_round(args, binary), ours), (lambda: peer_round(args), theirs)):
            figures, share = measure()
            into.append(figures)
            shares.append(share)
    print("| tokens/s | cr | llama.cpp | ratio |")
    print("| --- | --- | --- | --- |")
    for samples in SAMPLES:
        for which, name in ((0, "prefill 512"), (1, "decode 64")):
            a, b = best(ours, samples, which), best(theirs, samples, which)
            print(f"| {name}, {samples} sample{'s' * (samples > 1)} | {a:.1f} | {b:.1f} | {a / b:.2f} |")
    print(f"\n{args.threads} threads, best of {args.rounds} rounds; CPU share of the slowest round {min(shares):.2f}, load {os.getloadavg()[0]:.1f}")


main()
