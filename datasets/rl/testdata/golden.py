"""The recipe's algorithm in Python: golden.py SOURCE.parquet TRAIN.jsonl VALIDATION.jsonl

Needs numpy, pandas and pyarrow. A row on which the recipe would stop is dropped.
TRAIN.jsonl holds the training rows as json.dumps writes them, VALIDATION.jsonl
the validation rows as pandas does.
"""

import ast
import json
import math
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

MEMBERS = pa.struct([("role", pa.string()), ("content", pa.string())])
REWARD = pa.struct([("ground_truth", pa.string()), ("style", pa.string())])
SCHEMA = pa.schema([("prompt", pa.list_(MEMBERS)), ("solutions", pa.list_(pa.string())), ("reward_model", REWARD), ("data_source", pa.string())])


def verification(text):
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return json.loads(text)


def record(row):
    """The row's record, None if it is rejected; may raise as the recipe may."""
    gold, text = row["gold_standard_solution"], row["verification_info"]
    if not gold or not gold.startswith("```python") or not gold.endswith("```") or not isinstance(text, str):
        return None
    try:
        info = verification(text)
    except json.JSONDecodeError:
        return None
    if not isinstance(info, dict) or info.get("language") != "python":
        return None
    cases = info.get("test_cases", [])
    if not isinstance(cases, list) or len(cases) < 5 or "input" not in cases[0] or "output" not in cases[0]:
        return None
    called = "fn_name" in cases[0]
    truth = {
        "input": [c["input"] for c in cases],
        "output": [c["output"] for c in cases],
        "fn_name": cases[0]["fn_name"] if called else None,
        "type": "function_call" if called else "stdin_stdout",
    }
    return {
        "prompt": [{"role": "user", "content": row["prompt"]}],
        "solutions": [gold],
        "reward_model": {"ground_truth": json.dumps(truth), "style": "rule"},
        "data_source": row["source"],
    }


def records(rows):
    for row in rows:
        try:
            r = record(row)
        except Exception:
            continue
        if r:
            yield r


def main():
    source, train, validation = sys.argv[1:4]
    kept = list(records(pq.read_table(source).to_pylist()))
    order = np.random.default_rng(42).permutation(len(kept))
    tests = math.ceil(0.01 * len(kept))
    with open(train, "w") as f:
        for i in order[tests:]:
            f.write(json.dumps(kept[i]) + "\n")
    table = pa.Table.from_pylist([kept[i] for i in order[:tests]], schema=SCHEMA)
    text = table.to_pandas().to_json(orient="records", lines=True)
    with open(validation, "w") as f:
        f.write(text if text.endswith("\n") else text + "\n")


if __name__ == "__main__":
    main()
