#!/usr/bin/env bash
# The engine beside llama.cpp on the same GGUF, threads and machine, in one run.
# The peer is built once into build/peer, from the source that llama-cpp-python carries.
# usage: bench-engine.sh MODEL.gguf [THREADS]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
model=$1
threads=${2:-$(nproc)}
peer_version=0.3.36
peer=build/peer/llama-cpp-$peer_version

if [[ ! -x $peer/llama-batched-bench ]]; then
  command -v cmake >/dev/null || { echo "bench: cmake is needed to build the peer: apt-get install cmake" >&2; exit 1; }
  echo "bench: building llama.cpp, the peer (once, about ten minutes)" >&2
  work=build/peer/work
  rm -rf "$work" && mkdir -p "$work" "$peer"
  python3 -m venv "$work/venv"
  "$work/venv/bin/pip" install --quiet scikit-build-core
  "$work/venv/bin/pip" download --quiet --no-deps --no-build-isolation --no-binary :all: --dest "$work" "llama-cpp-python==$peer_version"
  tar -xzf "$work/llama_cpp_python-$peer_version.tar.gz" -C "$work"
  source_dir=$work/llama_cpp_python-$peer_version/vendor/llama.cpp
  cmake -S "$source_dir" -B "$work/cmake" -DCMAKE_BUILD_TYPE=Release -DGGML_NATIVE=ON -DBUILD_SHARED_LIBS=OFF \
    -DLLAMA_CURL=OFF -DLLAMA_BUILD_UI=OFF -DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_EXAMPLES=OFF >"$work/cmake.log"
  cmake --build "$work/cmake" --target llama-batched-bench -j "$(nproc)" >>"$work/cmake.log"
  cp "$work/cmake/bin/llama-batched-bench" "$peer/"
  rm -rf "$work"
fi
exec python3 scripts/bench_engine.py --model "$model" --threads "$threads" --peer "$peer/llama-batched-bench"
