#!/usr/bin/env bash
# Formats every C++ file of the repository; with --check it changes nothing and fails where a file is not formatted.
set -euo pipefail
cd "$(dirname "$0")/.."

case ${1:-} in
  '') mode=(-i) ;;
  --check) mode=(--dry-run -Werror) ;;
  *) echo "usage: scripts/format.sh [--check]" >&2; exit 2 ;;
esac
git ls-files -z --cached --others --exclude-standard -- '*.cpp' '*.h' |
  xargs -0 -r -n 16 -P "$(nproc)" clang-format-19 "${mode[@]}"
