#!/usr/bin/env bash
# Checks the toolchains and builds libtokenizers.a once, from the module's own source.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

missing=()
need() { command -v "$1" >/dev/null 2>&1 || missing+=("$1 ($2)"); }
need go "Go 1.26 or newer: the golang package of your system, or the Go project's download"
need gcc "a C compiler: apt-get install build-essential"
need g++ "a C++ compiler: apt-get install build-essential"
if [[ ! -f build/lib/libtokenizers.a ]]; then
  need cargo "Rust, to build the tokenizer library once: apt-get install cargo, or rustup"
fi
need python3 "the interpreter that judged programs run on: apt-get install python3"
if ((${#missing[@]})); then
  echo "cr needs these, and they are not on this machine:" >&2
  printf '  %s\n' "${missing[@]}" >&2
  exit 1
fi

[[ -f build/lib/libtokenizers.a ]] && exit 0

version=v1.22.0
echo "building libtokenizers.a from daulet/tokenizers $version (once, about two minutes)" >&2
go mod download "github.com/daulet/tokenizers@$version"
source_dir="$(go list -m -f '{{.Dir}}' github.com/daulet/tokenizers)"
rm -rf build/tokenizers
mkdir -p build/lib
cp -r "$source_dir" build/tokenizers
chmod -R u+w build/tokenizers
(cd build/tokenizers && cargo build --release --quiet)
# Moved into place whole, so that an interrupted build leaves nothing half-made.
cp build/tokenizers/target/release/libtokenizers.a build/lib/libtokenizers.a.part
mv build/lib/libtokenizers.a.part build/lib/libtokenizers.a
rm -rf build/tokenizers
