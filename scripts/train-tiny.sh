#!/usr/bin/env bash
# Makes the shipped models `tiny` and `tiny-rl` again from nothing: conversations
# from the task generator, supervised training, reinforcement, and the scores of its
# steps on the held-out tasks: the tables of docs/models. Run again after an
# interruption, it goes on where it was.
# usage: train-tiny.sh [DIR]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
dir=${1:-build/tiny}
mkdir -p "$dir"
SECONDS=0

# train KIND ARGUMENT... trains into DIR/KIND, or goes on there.
train() {
  local kind=$1
  shift
  local -a how=(--recipe "tiny-$kind" "$@")
  if [[ -e $dir/$kind/run.json ]]; then how+=(--resume); fi
  bin/cr train "$kind" "${how[@]}" --out "$dir/$kind"
  echo "train-tiny: $kind ends after $SECONDS s" >&2
}

# latest KIND names the newest checkpoint of DIR/KIND.
latest() {
  echo "$dir/$1/global_step_$(cat "$dir/$1/latest_checkpointed_iteration.txt")"
}

[[ -s $dir/sft.jsonl ]] || go run ./cmd/tiny-data -make sft -n 8000 -out "$dir/sft.jsonl"
echo "train-tiny: data after $SECONDS s" >&2
train sft --data "$dir/sft.jsonl" --set model.new.tokenizer=recipes/tiny/model
train rl --model "$(latest sft)"
eval=(--model "$dir/rl" --baseline "$(latest sft)" --data tiny-heldout --n 2 --max-tokens 1024 --out "$dir/eval")
if [[ -e $dir/eval ]]; then eval+=(--resume); fi
bin/cr eval livecodebench "${eval[@]}"
echo "train-tiny: $SECONDS s in all; to ship them:" >&2
echo "  scripts/ship-model.sh $(latest sft) tiny; scripts/ship-model.sh $(latest rl) tiny-rl" >&2
