#!/usr/bin/env bash
# Makes the shipped model `tiny` again from nothing: conversations from the task
# generator, supervised training, the score on the held-out tasks, and the folder
# that is embedded. Run again after an interruption, it goes on where it was.
# usage: train-tiny.sh [DIR]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
dir=${1:-build/tiny}
run=$dir/sft
mkdir -p "$dir"
SECONDS=0

[[ -s $dir/sft.jsonl ]] || go run ./cmd/tiny-data -make sft -n 24000 -seed 1 -out "$dir/sft.jsonl"
[[ -s $dir/validation.jsonl ]] || go run ./cmd/tiny-data -make sft -n 300 -seed 2 -out "$dir/validation.jsonl"
echo "train-tiny: data after $SECONDS s" >&2

resume=()
if [[ -e $run/run.json ]]; then resume=(--resume); fi
bin/cr train sft --recipe tiny-sft --data "$dir/sft.jsonl" --set data.validation="$dir/validation.jsonl" \
  --set model.new.tokenizer=recipes/tiny/model --out "$run" "${resume[@]}"
model=$run/global_step_$(cat "$run/latest_checkpointed_iteration.txt")
echo "train-tiny: trained after $SECONDS s" >&2

bin/cr eval livecodebench --model "$model" --data tiny-heldout --n 4 --out "$dir/eval" $([[ -e $dir/eval ]] && echo --resume)
echo "train-tiny: $SECONDS s in all; the model: $model" >&2
echo "to ship it: scripts/ship-model.sh $model tiny" >&2
