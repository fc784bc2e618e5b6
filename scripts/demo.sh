#!/usr/bin/env bash
# The demo: the model inside cr, several turns, a code tool, a sandbox, pass@1..4
# with error bars. Nothing is downloaded.
set -euo pipefail
out=runs/demo
rm -rf "$out"
cat >&2 <<'TEXT'
tiny has two million parameters and knows one kind of small task. The path is the
real one: the same command runs a Qwen3 folder or a server.
TEXT
set -x
bin/cr eval livecodebench --n 4 --model tiny --data tiny-heldout --limit 100 --max-tokens 1024 --out "$out"
