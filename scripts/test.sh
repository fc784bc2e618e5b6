#!/usr/bin/env bash
# Runs the tests and closes with one line of counts; skipped tests are named with their reason.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
log=$(mktemp)
trap 'rm -f "$log"' EXIT
status=0
go test -json -timeout 30m "${@:-./...}" >"$log" || status=$?
python3 scripts/test_summary.py "$log" || status=1
exit "$status"
