#!/usr/bin/env bash
# clang-tidy over src/, with the checks of .clang-tidy, each warning an error. It reads the files of a room together
# (CMake preset "lint"), as most of its time goes into what they include; nothing is built.
#
#   scripts/lint.sh [REGEX]     only the rooms or files whose path matches, such as src/mm/
set -euo pipefail
cd "$(dirname "$0")/.."
cmake --preset lint >/dev/null

report=$(mktemp)
trap 'rm -f "$report"' EXIT
# To clang-tidy a file that is read from another one is a header. The runner prints a line and a command per file; only
# what clang-tidy found is worth reading.
if run-clang-tidy-19 -quiet -p build/lint -j "$(nproc)" -header-filter="$PWD/src/.*" -warnings-as-errors='*' "${1:-src/}" >"$report" 2>&1; then
  echo "clang-tidy: nothing found in $(grep -c '^clang-tidy-19\|clang-tidy-19 ' "$report") compilations"
else
  grep -vE '^Running clang-tidy|^\[ *[0-9]+/[0-9]+\]|warnings? (generated|treated)|^Suppressed|^Use -|^$' "$report" || cat "$report"
  exit 1
fi
