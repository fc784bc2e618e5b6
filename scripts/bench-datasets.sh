#!/usr/bin/env bash
# cr build-dataset beside the recipe on Python's `datasets`: time, processor time,
# peak memory, and whether the files are equal. CR_TEST_PYTHON names a Python that
# has datasets and pandas. CR_BENCH_ROWS (55,000, about 2 GB of text) sets the
# source's size; CR_BENCH_SOURCE names a source that is there already.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
python=${CR_TEST_PYTHON:-python3}
rows=${CR_BENCH_ROWS:-55000}
"$python" -c 'import datasets, pandas' || { echo "bench: $python has no datasets and pandas; name one with CR_TEST_PYTHON" >&2; exit 1; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
data=datasets/rl/testdata
source=${CR_BENCH_SOURCE:-$dir/source.parquet}
[[ -e $source ]] || "$python" -W ignore $data/source.py "$rows" "$source" 9 9000
"$python" $data/bench.py "$source" "$dir"
"$python" $data/equal.py "$dir/recipe" "$dir/cr"
