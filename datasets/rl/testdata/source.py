"""Makes sources in the schema of verifiable-coding-problems, with every oddity.

usage: source.py ROWS FILE.parquet [SEED] [TESTS_BYTES]

The oddities: fences of other kinds, nulls, literals and JSON of every form,
texts on which Python raises, test cases that lack keys, short lists, other
languages, characters outside of ASCII, control characters, huge integers.
"""

import json
import random
import sys

import pyarrow as pa
import pyarrow.parquet as pq

WORDS = "sum of the array given n integers print line each query graph tree path maximal subsequence ünïcode 数组 \U0001f600 a/b \"q\" \\n \x7f\x01 <b> &amp;".split(" ")


def words(rng, n):
    return " ".join(rng.choice(WORDS) for _ in range(n))


def solution(rng):
    body = "\ndef f(x):\n    return x * %d  # %s\n\nprint('a\\tb/c')\n" % (rng.randrange(100), words(rng, rng.randrange(20)))
    return rng.choices(
        ["```python" + body + "```", "```python3" + body + "```", "```python" + body + "```\n", "```py" + body + "```", body, "", None,
         " ```python" + body + "```", "```Python" + body + "```", "```python```", "```python"],
        [60, 3, 2, 2, 2, 1, 2, 1, 1, 1, 1])[0]


def case(rng, size):
    text = "\n".join(" ".join(str(rng.randrange(-10**6, 10**9)) for _ in range(rng.randrange(1, 10))) for _ in range(1 + size // 60)) + "\n"
    odd = words(rng, 3)
    out = rng.choices([str(rng.randrange(10**9)) + "\n", odd, text], [6, 1, 2])[0]
    return {"type": "stdin_stdout", "input": rng.choices([text, odd], [9, 1])[0], "output": out}


def call(rng):
    values = [rng.choice([1, -2, 10**30, 1.0, 2.5e-7, 1e22, True, None, "é/\"", [1, "1"], {"k": [1.5]}, float("inf"), float("nan")]) for _ in range(2)]
    return {"fn_name": rng.choice(["solve", "f", None, 3]), "type": "function_call", "input": values, "output": [rng.choice(values)]}


def tests(rng, size):
    n = rng.choices([5, 6, 8, 20, 4, 1, 0], [30, 20, 10, 4, 6, 2, 2])[0]
    if rng.random() < 0.3:
        cases = [call(rng) for _ in range(n)]
    else:
        cases = [case(rng, size) for _ in range(n)]
    return cases


def spoil(rng, cases):
    """Test cases on which the recipe rejects the row, or stops."""
    if not cases:
        return cases
    kind = rng.randrange(12)
    at = rng.randrange(len(cases))
    odd = [1, None, "input output", "input", ["input", "output"], ("input", "output"), {"input"}, b"input output", 1.5, True, (), ...]
    if kind < 4:
        cases[at] = dict(cases[at])
        cases[at].pop(rng.choice(["input", "output"]))
    elif kind < 9:
        cases[at] = rng.choice(odd)
    elif kind == 9:
        return tuple(cases)
    elif kind == 10:
        cases[at] = dict(cases[at], input=rng.choice([b"x", {1, 2}, 1j, ..., {(1, 2): 3}, {b"k": 1}, {None: 1, True: 2, 1.5: 3, 2: 4}]))
    else:
        cases[at] = dict(cases[at], extra=rng.choice([b"x", {1, 2}, 1j]))
    return cases


def literal(v):
    return repr(v).replace("inf", "1e999").replace("nan", "1e999")


def info(rng, size):
    cases = tests(rng, size)
    json_only = False
    if rng.random() < 0.08:
        cases = spoil(rng, cases)
        json_only = True
    v = {"language": rng.choices(["python", "cpp", None, "Python", 3], [90, 3, 1, 1, 1])[0], "test_cases": cases}
    if rng.random() < 0.02:
        v.pop(rng.choice(list(v)))
    if rng.random() < 0.01:
        v = [v]
    elif rng.random() < 0.02:
        v = {"extra": rng.choice([None, 10**50, (1, 2), {"a": ()}]), **v}
    if json_only:
        return literal(v)
    text = rng.choices([literal, json.dumps, lambda v: json.dumps(v, ensure_ascii=False, indent=1), lambda v: json.dumps(v).replace("/", "\\/")], [6, 2, 1, 1])[0](v)
    return text


BROKEN = [
    lambda rng, t: t[: rng.randrange(len(t) + 1)],
    lambda rng, t: t + " x",
    lambda rng, t: "  \t" + t,
    lambda rng, t: "\n" + t + "\n# end\n",
    lambda rng, t: "\n " + t,
    lambda rng, t: t.replace("'", "\"", 3),
    lambda rng, t: t.replace("\\n", "\r\n"),
    lambda rng, t: t.replace("'input'", "'in' 'put'"),
    lambda rng, t: t.replace("'output'", "u'output'"),
    lambda rng, t: t.replace("'output'", "b'output'", 1),
    lambda rng, t: t.replace("'input'", "'in\\x70ut'"),
    lambda rng, t: t.replace("'input'", "'\\N{LATIN SMALL LETTER I}nput'"),
    lambda rng, t: "{**" + t + "}",
    lambda rng, t: "(" * 190 + t + ")" * 190,
    lambda rng, t: "(" * 201 + t + ")" * 201,
    lambda rng, t: "{'a': " + "1" * rng.choice([4300, 4301]) + ", " + t[1:],
    lambda rng, t: '{"a": true, "b": ' + "1" * rng.choice([4300, 4301]) + ", " + t[1:],
    lambda rng, t: "{'a': 0x" + "f" * rng.choice([10, 5000]) + ", " + t[1:],
    lambda rng, t: "{[]: 1, " + t[1:],
    lambda rng, t: "{'a': {[1]}, " + t[1:],
    lambda rng, t: "{'language': 'cpp', " + t[1:],
    lambda rng, t: t.replace("'language'", "'\\ud800language'"),
    lambda rng, t: t.replace("'type': 'stdin_stdout'", "'fn_name': '\\ud83d\\ude00'", 1),
    lambda rng, t: t.replace('"type": "stdin_stdout"', '"fn_name": "\\ud83d\\ude00 \\ud83d"', 1),
    lambda rng, t: "\x00" + t,
    lambda rng, t: "\ufeff" + t,
    lambda rng, t: "",
    lambda rng, t: None,
    lambda rng, t: "null",
    lambda rng, t: "[" * 3000 + "true" + "]" * 3000,
]


def row(rng, size):
    text = info(rng, rng.randrange(2 * size + 1))
    if rng.random() < 0.12:
        text = rng.choice(BROKEN)(rng, text)
    return {
        "source": rng.choices(["apps", "taco", "code_contests", "", None], [5, 5, 5, 1, 1])[0],
        "task_type": "verifiable_code",
        "in_source_id": str(rng.randrange(10**6)),
        "prompt": rng.choices([words(rng, rng.randrange(1, 60)), "", None], [50, 1, 1])[0],
        "gold_standard_solution": solution(rng),
        "verification_info": text,
        "metadata": rng.choice(["{}", None]),
        "problem_id": "vcp_%d" % rng.randrange(10**6),
    }


SCHEMA = pa.schema([(name, pa.string()) for name in [
    "source", "task_type", "in_source_id", "prompt", "gold_standard_solution", "verification_info", "metadata", "problem_id"]])


def main():
    rows, path = int(sys.argv[1]), sys.argv[2]
    rng = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
    size = int(sys.argv[4]) if len(sys.argv) > 4 else 200
    with pq.ParquetWriter(path, SCHEMA) as writer:
        for start in range(0, rows, 1000):
            group = [row(rng, size) for _ in range(min(1000, rows - start))]
            writer.write_table(pa.Table.from_pylist(group, schema=SCHEMA))


main()
