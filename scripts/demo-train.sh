#!/usr/bin/env bash
# Reinforcement in minutes: a short run of tiny-rl on the model inside cr, the run's
# figures, then the score of what it began from and of its checkpoints on tasks that
# are not in training, as a table, and as a curve in the terminal, as SVG and PNG.
# Run again after an interruption, it goes on where it was.
# usage: demo-train.sh [DIR [STEPS]]
set -euo pipefail
dir=${1:-runs/demo-train}
steps=${2:-40}
mkdir -p "$dir"
cat >&2 <<TEXT
tiny writes programs for small tasks, runs them in the sandbox, and is rewarded when
all tests pass. $steps steps are few, and a step's score is that of 128 answers to other
tasks than the step before: it goes up and down by itself. What counts is the table
at the end, on 500 tasks that are not in training; its last line says whether the
change is more than chance. A run of 200 steps: docs/models/tiny-rl.md.
To begin anew, remove $dir.
TEXT
train=(--recipe tiny-rl --set "train.steps=$steps" --set rollout.prompts=16 --set batch.mini=16
  --set optim.warmup=0.1 --set "train.save_every=$(((steps + 1) / 2))" --out "$dir/run")
eval=(--model "$dir/run" --baseline tiny --data tiny-heldout --n 2 --max-tokens 1024 --out "$dir/eval")
if [[ -e $dir/run/run.json ]]; then train+=(--resume); fi
if [[ -e $dir/eval ]]; then eval+=(--resume); fi
set -x
bin/cr train rl "${train[@]}"
bin/cr logs -q "$dir/run" -o "$dir/metrics.csv" --figures "$dir/figures"
bin/cr eval livecodebench "${eval[@]}"
