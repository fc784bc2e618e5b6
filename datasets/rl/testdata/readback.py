"""Reads a build with pyarrow: readback.py BUILD_DIR TRAIN.jsonl VALIDATION.jsonl

The two files are golden.py's. Prints OK if pyarrow finds their values, the
declared types, and no metadata.
"""

import json
import sys

import pyarrow as pa
import pyarrow.parquet as pq

MEMBERS = pa.struct([("role", pa.string()), ("content", pa.string())])
REWARD = pa.struct([("ground_truth", pa.string()), ("style", pa.string())])
SCHEMA = pa.schema([("prompt", pa.list_(MEMBERS)), ("solutions", pa.list_(pa.string())), ("reward_model", REWARD), ("data_source", pa.string())])


def check(path, lines):
    table = pq.read_table(path)
    assert table.schema.equals(SCHEMA) and not table.schema.metadata, table.schema
    want = [json.loads(line) for line in open(lines)]
    assert table.to_pylist() == want, path
    group = pq.ParquetFile(path).metadata.row_group(0)
    for i in range(group.num_columns):
        column = group.column(i)
        assert column.compression == "SNAPPY" and column.has_column_index and column.has_offset_index and column.statistics, column


build, train, validation = sys.argv[1:4]
check(build + "/train.parquet", train)
check(build + "/validation.parquet", validation)
assert open(build + "/validation.jsonl", "rb").read() == open(validation, "rb").read()
print("OK")
