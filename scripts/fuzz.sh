#!/usr/bin/env bash
# Runs every fuzz target for the given time, one after another.
# usage: fuzz.sh 60s
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
time=$1
grep -rl --include='*_test.go' '^func Fuzz' . | xargs -n1 dirname | sort -u | while read -r dir; do
  grep -ho '^func Fuzz[A-Za-z0-9_]*' "$dir"/*_test.go | sed 's/^func //' | while read -r target; do
    echo "fuzz $dir $target" >&2
    go test "$dir" -run '^$' -fuzz "^$target\$" -fuzztime "$time" -fuzzminimizetime 1x
  done
done
