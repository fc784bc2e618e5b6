#!/usr/bin/env bash
# A training step beside PyTorch's, eager and compiled, on the same machine,
# threads, batch and model, in one run: tokens/s and the peak of memory, float32.
# Without MODEL it is the tiny model, from random weights.
# usage: bench-train.sh [MODEL.gguf|FOLDER] [TOKENS] [SEGMENT] [THREADS]
#   PYTHON  one with torch and transformers (python3)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
model=${1:-}
tokens=${2:-3072}
segment=${3:-256}
threads=${4:-$(nproc)}
python=${PYTHON:-python3}
"$python" -c "import torch, transformers" || { echo "bench: $python has no torch and transformers: set PYTHON" >&2; exit 1; }

work=build/bench/train
mkdir -p "$work/tiny"
export CGO_LDFLAGS="-L$PWD/build/lib"
go test -c -o "$work/train.test" ./runtime/train
if [[ -z $model ]]; then
  cp runtime/train/testdata/tiny.json "$work/tiny/config.json"
  folder=$work/tiny scratch=1
elif [[ -d $model ]]; then
  folder=$model scratch=
else
  folder=$work/$(basename "$model" .gguf) scratch=
  [[ -d $folder ]] || CR_BENCH_GGUF=$(realpath "$model") CR_BENCH_OUT=$PWD/$folder \
    bash -c 'cd runtime/train && exec "../../'"$work"'/train.test" -test.run "^TestExportForBenchmark$" -test.v' >/dev/null
fi
folder=$(realpath "$folder")

# Two rounds, alternating, so that a machine that others use is fair to both.
for _ in 1 2; do
  (cd runtime/train && CR_BENCH_MODEL=$folder CR_BENCH_SCRATCH=$scratch CR_BENCH_TOKENS=$tokens CR_BENCH_SEGMENT=$segment \
    CR_BENCH_THREADS=$threads "../../$work/train.test" -test.run '^$' -test.bench '^BenchmarkStep$' -test.benchtime 20s) | grep ^Benchmark
  for mode in "" --compile; do
    OMP_WAIT_POLICY=passive "$python" scripts/bench_train.py --model "$folder" --tokens "$tokens" --segment "$segment" \
      --threads "$threads" $mode 2>/dev/null || echo "{\"peer\": \"torch $mode\", \"error\": \"it failed\"}"
  done
done
