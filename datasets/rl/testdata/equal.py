"""Compares two builds row by row: equal.py DIR_A DIR_B

Tables must have equal schemas (but for their metadata) and equal values,
validation.jsonl equal bytes.
"""

import sys

import pyarrow.parquet as pq


def main():
    a, b = sys.argv[1:3]
    for name in ["train.parquet", "validation.parquet"]:
        left, right = (pq.read_table(f"{d}/{name}") for d in (a, b))
        print(name, left.num_rows, "rows")
        if not left.schema.remove_metadata().equals(right.schema.remove_metadata()):
            sys.exit(f"{name}: schemas differ\n{left.schema}\n{right.schema}")
        if left.num_rows != right.num_rows:
            sys.exit(f"{name}: {left.num_rows} and {right.num_rows} rows")
        for i, (x, y) in enumerate(zip(left.to_pylist(), right.to_pylist())):
            if x != y:
                sys.exit(f"{name}: row {i} differs\n{str(x)[:500]}\n{str(y)[:500]}")
    left, right = (open(f"{d}/validation.jsonl", "rb").read() for d in (a, b))
    if left != right:
        sys.exit("validation.jsonl differs")
    print("equal")


main()
