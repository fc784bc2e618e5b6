"""Writes what Python itself prints, for the tests of package logs.

    python make.py

numbers.json  texts as a log has them, and what they are: float.hex(), null for
              a value that is missing, "no" for no number
pprint.log    verl's printed validation: pprint of an f-string with a dictionary
              of numpy scalars and strings, with lines of other processes between
pprint.json   its numeric entries
spec.json     lines in the form in which vLLM prints the counts of a window, and
              the counts
"""
import io, json, random
from pprint import pprint

import numpy as np

random.seed(7)
rng = np.random.default_rng(7)


def numbers():
    rows = []
    for v in [0.0, -0.0, 1.0, 0.1, 1e-06, 3.2e-05, 1e16, -1.5e22, 123456789.125, 5e-324, 1.7976931348623157e308,
              float("inf"), float("-inf"), float("nan")] + [random.gauss(0, 1) * 10 ** random.randint(-12, 12) for _ in range(40)]:
        for text in (repr(v), repr(np.float64(v)), f"{v:.3f}", f"{v:e}"):
            value = v if text in (repr(v), repr(np.float64(v))) else float(text)
            rows.append([text, float(value).hex()])
        single = np.float32(v)
        rows.append([repr(single), float(str(single)).hex()])
    for v in (np.int32(3), np.int64(-7), np.float16(0.5), np.bool_(True), np.bool_(False)):
        rows.append([repr(v), float(v).hex()])
    rows += [["True", (1.0).hex()], ["False", (0.0).hex()], ["12", (12.0).hex()], [".5", (0.5).hex()], ["-1.5E+2", (-150.0).hex()], ["+3", (3.0).hex()]]
    rows += [["tensor(0.5, device='npu:0')", (0.5).hex()], ["None", None]]
    rows += [[t, "no"] for t in ("15K", "1_000", "", "-", ".", "e5", "1e", "1e+", "0x10", "1.2.3", "np.float64(", "np.float64()", "nano", "info", "1 2", "--1", "abc", "1,5", "(1)")]
    json.dump(rows, open("numbers.json", "w"), indent=0)


def validation():
    metrics = {}
    for source in ("code_contests", "livecodebench/code_generation_lite", "it's odd"):
        for metric in ("mean@4", "best@4/mean", "best@4/std"):
            metrics[f"val-core/{source}/reward/{metric}"] = np.float64(rng.random())
    metrics["val-aux/num_turns/min"] = np.int32(2)
    metrics["val-aux/num_turns/max"] = np.int32(16)
    metrics["val-aux/num_turns/mean"] = np.float64(5.5)
    metrics["val-aux/note"] = 'a "quoted" answer, with \'both\' kinds {and braces: 1} ' + "and many more words " * 8
    metrics["val-aux/diverged"] = np.float64("nan")
    out = io.StringIO()
    pprint(f"Initial validation metrics: {metrics}", stream=out)
    with open("pprint.log", "w") as f:
        f.write("loading\n")
        for i, line in enumerate(out.getvalue().splitlines()):
            f.write(f"\x1b[36m(TaskRunner pid=123, ip=10.0.0.1)\x1b[0m {line}\n")
            if i % 3 == 0:
                f.write("(WorkerDict pid=9) INFO loading weights: 12%\n")
        f.write("\x1b[36m(TaskRunner pid=123, ip=10.0.0.1)\x1b[0m step:1 - critic/score/mean:np.float64(0.25)\n")
    number = lambda v: float(v).hex()
    json.dump({k: number(v) for k, v in metrics.items() if not isinstance(v, str)}, open("pprint.json", "w"), indent=0)


def spec():
    rows = []
    for i in range(40):
        k = random.choice([1, 2, 3, 7])
        lengths = [k] * random.randint(1, 3000) if i % 2 == 0 else [random.randint(1, k) for _ in range(random.randint(50, 3000))]
        accepted_at = [0] * k
        for n in lengths:
            for j in range(n):
                if random.random() > 0.7:
                    break
                accepted_at[j] += 1
        drafts, drafted, accepted = len(lengths), sum(lengths), sum(accepted_at)
        rates = ", ".join(f"{a / drafts:.3f}" for a in accepted_at)
        newest = (f"INFO 11-30 04:00:00 [metrics.py:100] SpecDecoding metrics: Mean acceptance length: {1 + accepted / drafts:.2f}, "
                  f"Accepted throughput: 1.23 tokens/s, Drafted throughput: 4.56 tokens/s, Accepted: {accepted} tokens, Drafted: {drafted} tokens, "
                  f"Per-position acceptance rate: {rates}, Avg Draft acceptance rate: {100 * accepted / drafted:.1f}%")
        oldest = f"SpecDecoding metrics: Draft acceptance rate: {100 * accepted / drafted:.1f}%, Accepted: {accepted} tokens, Drafted: {drafted} tokens"
        rows.append({"newest": newest, "oldest": oldest, "full": i % 2 == 0, "drafts": drafts, "drafted": drafted, "accepted": accepted, "accepted_at": accepted_at})
    json.dump(rows, open("spec.json", "w"), indent=0)


numbers()
validation()
spec()
