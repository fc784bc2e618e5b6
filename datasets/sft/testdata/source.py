"""Makes a conversation data set with every oddity: source.py ROWS FILE.parquet [SEED] [object]

With "object" a tool call's arguments are a struct, else text.
"""

import random
import sys

import pyarrow as pa
import pyarrow.parquet as pq

ANSWERS = [
    "Done:\n```python\nprint(1)\n```", "```Python\nx\n```\n", "```PYTHON3 x```", "text", "", "```python\nno end", "```py\nx\n```", "$\\boxed{3}$ ```python\nx\n```",
    "````python```", "``` ```python ``` \\box", "```python", "``````python`````", "é ```pYthon\nü\n```", "```\n```python```",
]


def message(rng, role, objects):
    m = {"role": role, "content": rng.choice(ANSWERS)}
    if rng.random() < 0.04:
        m["content"] = None
    if role == "assistant" and rng.random() < 0.6:
        m["tool_calls"] = rng.choices([None, [], [call(rng, objects)], [call(rng, objects), call(rng, objects)], [None]], [1, 2, 6, 3, 1])[0]
    if role == "tool":
        m["name"] = rng.choice(["code_interpreter", None, ""])
    return m


def call(rng, objects):
    arguments = {"code": rng.choice(["print(1)", "", None]), "timeout": rng.choice([1, None])} if objects else rng.choice(['{"code": "x"}', "", None])
    return {"id": rng.choice(["a", None]), "function": rng.choice([{"name": "code_interpreter", "arguments": arguments}] * 5 + [None])}


def row(rng, objects):
    roles = ["system", "user"] + rng.choices(["assistant", "tool", "user", "other"], [6, 5, 1, 1], k=rng.randrange(8))
    if rng.random() < 0.8:
        roles.append("assistant")
    messages = [message(rng, r, objects) for r in roles]
    if rng.random() < 0.02:
        messages = rng.choice([None, [], messages[:1]])
    tools = rng.choice([None, [], [{"type": "function", "function": {"name": "f", "strict": None}}], [None, {"type": "", "function": None}]])
    return {"id": rng.randrange(10**12), "messages": messages, "score": rng.choice([None, 1.5, float("nan")]), "tools": tools,
            "grid": rng.choice([None, [], [[1, 3], None, [2]], [[]], [[None]]]), "tags": rng.choice([None, [], ["a"], ["", None, "b"], [None]]), "flag": rng.choice([True, False, None])}


def schema(objects):
    arguments = pa.struct([("code", pa.string()), ("timeout", pa.int32())]) if objects else pa.string()
    calls = pa.list_(pa.struct([("id", pa.string()), ("function", pa.struct([("name", pa.string()), ("arguments", arguments)]))]))
    return pa.schema([
        ("id", pa.int64()),
        ("messages", pa.list_(pa.struct([("role", pa.string()), ("content", pa.string()), ("tool_calls", calls), ("name", pa.string())]))),
        ("score", pa.float64()),
        ("tools", pa.list_(pa.struct([("type", pa.string()), ("function", pa.struct([("name", pa.string()), ("strict", pa.bool_())]))]))),
        ("grid", pa.list_(pa.list_(pa.int32()))),
        ("tags", pa.list_(pa.string())),
        ("flag", pa.bool_()),
    ])


def main():
    rows, path = int(sys.argv[1]), sys.argv[2]
    rng = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
    objects = "object" in sys.argv
    table = pa.Table.from_pylist([row(rng, objects) for _ in range(rows)], schema=schema(objects))
    pq.write_table(table, path, row_group_size=max(1, rows // 3))


main()
