#!/usr/bin/env bash
# How often does `faultline compare` raise a false alarm, and how often does it find a true 5%? Measured on this machine:
# 200 rows of a loop against itself, and 200 rows of it against one that does 5% more, 50 samples each.
#
# usage: scripts/power-check.sh [FAULTLINE]     (default: build/release/src/cli/faultline)
# Environment: ROUNDS (default 50) processes on each side; BATCHES (default 10) of 20 rows.
# Prints the rows called different before and after the correction, and exits 1 unless at most 5% of the first kind and
# at least 90% of the second are, corrected. Keeps its files where KEEP names a folder.
set -euo pipefail
cd "$(dirname "$0")/.."
faultline=${1:-build/release/src/cli/faultline}
rounds=${ROUNDS:-50}
batches=${BATCHES:-10}
folder=${KEEP:-$(mktemp -d)}
[ -n "${KEEP:-}" ] || trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder"

# One byte after another of one page that is there: no fault, the same shape and the same calls on both sides. What is
# timed is the agent's own loop, so that 5% more bytes are 5% more time.
program() {
  printf '# A loop that touches %s bytes, twenty times.\nparam batch = 0\nlet n = %s\n' "$1" "$1"
  printf 'a = mmap(NULL, PAGE, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0)\nstore(a, PAGE)\n'
  printf 'measure "loop" repeat 20 {\n'
  for _ in $(seq 20); do printf '    store(a, n, 1)\n'; done
  printf '}\n'
}
program 3900 >"$folder/loop.fl"
program 4095 >"$folder/loop-and-5-percent.fl"
sweep=batch=$(seq -s, 0 $((batches - 1)))

# verdicts FILE: rows, those with p below 0.05 by themselves, and those called different. `measure` sums the rows and is
# none of the 200.
verdicts() {
  local status=0
  "$faultline" compare "$1" --json "$1.compared" --brief >"$1.txt" || status=$?
  [ "$status" -le 1 ] || { cat "$1.txt" >&2; exit 2; }
  grep -o '"kind":"operation".*' "$1.compared" | grep '"line":[0-9]*,"operation":"store(a, n, 1)"' |
    awk '{
      rows++
      if (match($0, /"p":[-+.e0-9]+,"method"/) && substr($0, RSTART + 4, RLENGTH - 13) + 0 <= 0.05) alone++
      if ($0 ~ /"verdict":"different"/) different++
    } END { print rows + 0, alone + 0, different + 0 }'
}

"$faultline" run "$folder/loop.fl" --on live --on live --set "$sweep" --rounds "$rounds" --json "$folder/same.json" >/dev/null
"$faultline" run "$folder/loop.fl" "$folder/loop-and-5-percent.fl" --on live --set "$sweep" --rounds "$rounds" \
  --json "$folder/slower.json" >/dev/null
read -r same_rows same_alone same_different < <(verdicts "$folder/same.json")
read -r slow_rows slow_alone slow_different < <(verdicts "$folder/slower.json")
printf 'against itself: %s rows, %s with p <= 0.05 alone, %s called different\n' "$same_rows" "$same_alone" "$same_different"
printf 'against 5%% more: %s rows, %s with p <= 0.05 alone, %s called different\n' "$slow_rows" "$slow_alone" "$slow_different"
[ $((same_different * 20)) -le "$same_rows" ] && [ $((slow_different * 10)) -ge $((slow_rows * 9)) ] && [ "$slow_rows" -gt 0 ]
