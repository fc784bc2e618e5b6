#!/usr/bin/env bash
# Puts a trained model among those that travel inside the program: what a model
# needs to run, and nothing of its training.
# usage: ship-model.sh CHECKPOINT NAME
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
to=runtime/shipped/models/$2
rm -rf "$to"
mkdir -p "$to"
for name in config.json generation_config.json model.safetensors tokenizer.json tokenizer_config.json chat_template.jinja; do
  [[ ! -e $1/$name ]] || cp "$1/$name" "$to/$name"
done
du -sh "$to"
