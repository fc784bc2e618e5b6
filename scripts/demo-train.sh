#!/usr/bin/env bash
# Reinforcement in minutes: some steps of tiny-rl on the model inside cr, the run's
# figures, then the score of what it began from and of its checkpoints on tasks that
# are not in training, as a table, and as a curve in the terminal, as SVG and PNG.
# usage: demo-train.sh [DIR [STEPS]]
set -euo pipefail
dir=${1:-runs/demo-train}
steps=${2:-20}
rm -rf "$dir"
mkdir -p "$dir"
cat >&2 <<TEXT
tiny writes programs for small tasks, runs them in the sandbox, and is rewarded when
all tests pass. $steps steps are few, and a step's score is that of 96 answers to other
tasks than the step before: it goes up and down by itself. What counts is the table
at the end, on 500 tasks that are not in training; its last line says whether the
change is more than chance. A run of 100 steps: docs/models/tiny.md.
TEXT
set -x
bin/cr train rl --recipe tiny-rl --steps "$steps" --set train.save_every=$(((steps + 1) / 2)) --out "$dir/run"
bin/cr logs -q "$dir/run" -o "$dir/metrics.csv" --figures "$dir/figures"
bin/cr eval livecodebench --model "$dir/run" --baseline tiny --data tiny-heldout --n 2 --max-tokens 1024 --out "$dir/eval"
