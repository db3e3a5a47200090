#!/usr/bin/env bash
# clang-tidy over src/, with the checks of .clang-tidy, each warning an error. Needs a configured build/release.
# (GCC, which compiles it, is told of warnings that clang does not have.)
#
#   scripts/lint.sh [REGEX]     only the files whose path matches, such as src/mm/
set -euo pipefail
cd "$(dirname "$0")/.."

report=$(mktemp)
trap 'rm -f "$report"' EXIT
# The runner prints a line and a command per file; only what clang-tidy found is worth reading.
if run-clang-tidy-19 -quiet -p build/release -j "$(nproc)" -extra-arg=-Wno-unknown-warning-option -warnings-as-errors='*' "$PWD/${1:-src/}" >"$report" 2>&1; then
  echo "clang-tidy: nothing found in $(grep -c '^clang-tidy-19\|clang-tidy-19 ' "$report") files"
else
  grep -vE '^Running clang-tidy|^\[ *[0-9]+/[0-9]+\]|warnings? (generated|treated)|^Suppressed|^Use -|^$' "$report" || cat "$report"
  exit 1
fi
