#!/usr/bin/env bash
# cr build-dataset beside the recipe on Python's `datasets`: time, peak memory,
# and whether the files are equal. CR_TEST_PYTHON names a Python that has datasets
# and pandas. CR_BENCH_ROWS (55,000, about 2 GB of text) sets the source's size.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
python=${CR_TEST_PYTHON:-python3}
rows=${CR_BENCH_ROWS:-55000}
"$python" -c 'import datasets, pandas' || { echo "bench: $python has no datasets and pandas; name one with CR_TEST_PYTHON" >&2; exit 1; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
data=datasets/rl/testdata
"$python" -W ignore $data/source.py "$rows" "$dir/source.parquet" 9 9000
"$python" -W ignore $data/recipe.py "$dir/source.parquet" "$dir/recipe"
"$python" - "$dir" <<'PYTHON'
import resource, subprocess, sys, time
d = sys.argv[1]
begun = time.monotonic()
subprocess.run(["bin/cr", "--quiet", "build-dataset", "--source", d + "/source.parquet", "--out", d + "/cr"], check=True, stdout=subprocess.DEVNULL)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(f"cr: {time.monotonic() - begun:.1f} s, {used.ru_utime + used.ru_stime:.1f} s of CPU, {used.ru_maxrss >> 10} MB")
PYTHON
"$python" $data/equal.py "$dir/recipe" "$dir/cr"
