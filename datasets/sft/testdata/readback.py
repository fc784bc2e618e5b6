"""Reads a filtered file with pyarrow: readback.py SOURCE.parquet KEPT.json OUT.parquet

Prints OK if OUT has exactly the kept rows of SOURCE, with its types. Values are
compared as text, since NaN is not equal to itself.
"""

import json
import sys

import pyarrow.parquet as pq

source, kept, out = sys.argv[1:4]
want, got = pq.read_table(source).take(json.load(open(kept))), pq.read_table(out)
assert got.schema.equals(want.schema.remove_metadata(), check_metadata=True), got.schema
assert str(got.to_pylist()) == str(want.to_pylist())
print("OK")
