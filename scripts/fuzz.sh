#!/usr/bin/env bash
# Runs every fuzz target below the given folders, all without one, each for the
# given time and CR_FUZZ_JOBS (2) at once. Each target's output goes to a log in
# CR_FUZZ_LOGS, a temporary folder if unset; one line a target is shown, and the
# log of those that fail.
# usage: fuzz.sh 60s [DIR...]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export FUZZ_TIME=$1
shift
if [[ -n ${CR_FUZZ_LOGS:-} ]]; then
  mkdir -p "$CR_FUZZ_LOGS"
else
  CR_FUZZ_LOGS=$(mktemp -d)
  trap 'rm -rf "$CR_FUZZ_LOGS"' EXIT
fi
export CR_FUZZ_LOGS

# fuzz TARGET FOLDER runs one target.
fuzz() {
  local log=$CR_FUZZ_LOGS/${2//\//-}-$1.log
  local -a run=(go test "./$2" -run '^$' -fuzz "^$1\$" -fuzztime "$FUZZ_TIME" -fuzzminimizetime 1x -parallel 1)
  if "${run[@]}" >"$log" 2>&1; then
    echo "fuzz ok   $2 $1: $(grep -o 'execs: [0-9]*' "$log" | tail -1)"
    return
  fi
  echo "fuzz FAIL $2 $1"
  tail -n 40 "$log"
  return 1
}
export -f fuzz

grep -r --include='*_test.go' -o '^func Fuzz[A-Za-z0-9_]*' "${@:-.}" |
  sed -E 's|^(\./)?(.*)/[^/]*:func (.*)$|\3 \2|' | sort -u -k2 -k1,1 |
  xargs -P "${CR_FUZZ_JOBS:-2}" -L1 bash -c 'fuzz "$1" "$2"' fuzz
