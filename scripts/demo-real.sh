#!/usr/bin/env bash
# The demo with a real model: several turns, a code tool, a sandbox, pass@1..4 with error bars.
# usage: demo-real.sh MODEL.gguf
set -euo pipefail
model=$1
out=runs/demo-real
rm -rf "$out"
cat >&2 <<'TEXT'
SmolLM2-135M is a very small model: it solves little and rarely calls its tool.
The path is the real one: the same command runs a Qwen3 folder or a server.
TEXT
set -x
bin/cr eval livecodebench --n 4 --data bundled --limit 8 --model "$model" --max-tokens 500 --max-turns 4 --out "$out"
