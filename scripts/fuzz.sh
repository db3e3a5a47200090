#!/usr/bin/env bash
# Runs the fuzzers of build/asan, one after the other, on one processor.
#
#   scripts/fuzz.sh [SECONDS] [NAME…]     each for SECONDS (60); NAME is program, strace, recording,
#                                         message, json or compare; all by default
#
# Seeds are fuzz/corpus/NAME, programs/ and the logs of the tests. What a run adds to them stays in build/fuzz/corpus, so
# that the next one goes on from there. Exits with status 1 after a finding, whose input is then in build/fuzz/findings.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-60}
shift $(($# > 0 ? 1 : 0))
[ $# -gt 0 ] || set -- program strace recording message json compare
case $seconds in '' | *[!0-9]* | 0) echo "fuzz.sh: '$seconds': expected a number of seconds above 0" >&2; exit 2 ;; esac

built=build/asan/fuzz build=build/fuzz
mkdir -p $build/findings $build/corpus/{program,strace,recording,message,json,compare} $build/message_seeds
status=0
for name in "$@"; do
  [ -x "$built/fuzz_$name" ] || { echo "fuzz.sh: there is no $built/fuzz_$name; run \`make fuzz\`" >&2; exit 2; }
  options=() seeds=()
  [ ! -d "fuzz/corpus/$name" ] || seeds+=("fuzz/corpus/$name")
  case $name in
    program) seeds+=(programs) ;;
    recording) seeds+=(test/record/recordings) ;;
    strace) seeds+=(test/program/strace) ;;
    compare) seeds+=(fuzz/corpus/json) ;;
    message)
      find programs -name '*.fl' -exec $built/message_seeds $build/message_seeds {} +
      seeds+=($build/message_seeds)
      ;;
  esac
  dictionary=fuzz/${name/compare/json}.dict
  [ ! -e "$dictionary" ] || options+=("-dict=$dictionary")
  printf -- '---- fuzz_%s: %s s\n' "$name" "$seconds"
  log=$build/findings/$name.log
  # One input may take 10 s under the sanitizers before it counts as a hang; none may take 1 GiB.
  if "$built/fuzz_$name" "${options[@]}" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=1024 -verbosity=1 \
    -print_final_stats=1 -artifact_prefix="$build/findings/$name-" "$build/corpus/$name" "${seeds[@]}" >"$log" 2>&1; then
    grep -E '^stat::(number_of_executed_units|average_exec_per_sec|peak_rss_mb|new_units_added)' "$log" | sed 's/^stat:://'
  else
    tail -n 60 "$log"
    echo "fuzz.sh: a finding. Run it again: $built/fuzz_$name INPUT, where INPUT is named above" >&2
    status=1
  fi
done
exit $status
