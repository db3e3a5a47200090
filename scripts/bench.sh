#!/usr/bin/env bash
# Runs every benchmark program of build/release/bench. Arguments go to each of them (Google Benchmark's, such as
# --benchmark_filter=REGEX).
set -euo pipefail
cd "$(dirname "$0")/.."

found=0
for program in build/release/bench/*_bench; do
  [ -x "$program" ] || continue
  found=1
  printf '\n==== %s\n' "$(basename "$program")"
  "$program" "$@"
done
[ $found -eq 1 ] || { echo 'bench.sh: build/release/bench holds no benchmark; run `make bench`' >&2; exit 2; }
