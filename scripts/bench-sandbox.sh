#!/usr/bin/env bash
# The sandbox's throughput, latency and memory as a table for docs/benchmarks.md.
# The cold `python3 -c pass` of the same run is the yardstick between machines.
# usage: bench-sandbox.sh [IGNORED [RUNS]]   (just passes a model first)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
runs=${2:-2000}

bench() { # PACKAGE PATTERN TIMES
  go test "$1" -run '^$' -bench "$2" -benchtime "$3" -timeout 30m
}

echo "machine: $(nproc) x $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1), Linux $(uname -r), load $(cut -d' ' -f1 /proc/loadavg) at the start"
echo "commit:  $(git rev-parse --short HEAD)"
echo
echo "| benchmark | runs | figures |"
echo "| --- | --- | --- |"
{
  bench ./sandbox '^BenchmarkColdPython$' 100x
  bench ./sandbox '^Benchmark(Stdin|Call|Assert|Compiled)$' "${runs}x"
  bench ./sandbox '^BenchmarkHello$' "${runs}x"
  bench ./sandbox '^BenchmarkLane$' 1x
  bench ./sandbox/service '^BenchmarkRunCode$' "${runs}x"
  bench ./sandbox/service '^BenchmarkHumanEval$' 328x
} | awk '
  /^(---|FAIL|panic)/ { print > "/dev/stderr"; bad = 1 }
  /^Benchmark/ {
    sub(/^Benchmark/, "", $1); sub(/-[0-9]+$/, "", $1)
    figures = ""
    for (i = 3; i < NF; i += 2)
      if ($(i + 1) != "ns/op") figures = figures (figures == "" ? "" : ", ") $i " " $(i + 1)
    printf "| %s | %s | %s |\n", $1, $2, figures
  }
  END { exit bad }'
