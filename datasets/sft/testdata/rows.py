"""Writes nested.parquet and, of each file here, the first rows as pyarrow reads them: rows.py

Structs lose their null members, as they do in cr; lists and maps keep theirs.
"""

import json
import pathlib

import pyarrow as pa
import pyarrow.parquet as pq

HERE = pathlib.Path(__file__).parent


def bare(value, kind):
    if value is None:
        return None
    if pa.types.is_struct(kind):
        return {f.name: bare(value[f.name], f.type) for f in kind if value[f.name] is not None}
    if pa.types.is_map(kind):
        return {k: bare(v, kind.item_type) for k, v in value}
    if pa.types.is_list(kind):
        return [bare(v, kind.value_type) for v in value]
    return value


def nested():
    deep = pa.struct([("g", pa.list_(pa.list_(pa.int32()))), ("m", pa.map_(pa.string(), pa.list_(pa.float64()))), ("s", pa.struct([("t", pa.struct([("u", pa.bool_())]))]))])
    call = pa.struct([("name", pa.string()), ("arguments", deep)])
    message = pa.struct([("role", pa.string()), ("content", pa.string()), ("tool_calls", pa.list_(call)), ("loss_mask", pa.int64())])
    schema = pa.schema([("messages", pa.list_(message)), ("tools", pa.list_(pa.string())), ("enable_thinking", pa.bool_())])

    def calling(*arguments):
        return {"role": "assistant", "content": None, "tool_calls": [{"name": "f", "arguments": a} for a in arguments], "loss_mask": 1}

    rows = [
        {"messages": [calling({"g": [[1, 2], None, [], [None, 3]], "m": [("é", [1.5, None]), ("b", None)], "s": {"t": {"u": False}}})], "tools": ["{}", None, ""], "enable_thinking": False},
        {"messages": [calling({"g": None, "m": [], "s": None}, None, {"g": [], "m": None, "s": {"t": None}}), {"role": "tool", "content": "r"}], "tools": [], "enable_thinking": None},
        {"messages": [None, {"role": None, "content": "", "tool_calls": []}, calling()], "tools": None, "enable_thinking": True},
        {"messages": [], "tools": None, "enable_thinking": None},
        {"messages": None, "tools": None, "enable_thinking": None},
        {"messages": [calling({"g": [[]], "m": [("a", [])], "s": {"t": {"u": None}}}) for _ in range(3)], "tools": ["x"], "enable_thinking": True},
    ]
    pq.write_table(pa.Table.from_pylist(rows, schema=schema), HERE / "nested.parquet", row_group_size=4, compression="zstd")


def main():
    nested()
    for name in ("text", "object", "nested"):
        table = pq.read_table(HERE / f"{name}.parquet").slice(0, 60)
        kinds = {f.name: f.type for f in table.schema}
        rows = []
        for row in table.to_pylist():
            rows.append({key: bare(row.get(column), kinds.get(column)) if column in kinds else None for key, column in (("messages", "messages"), ("tools", "tools"), ("thinking", "enable_thinking"))})
        (HERE / f"{name}_rows.json").write_text(json.dumps(rows, ensure_ascii=False, separators=(",", ":")) + "\n")


main()
