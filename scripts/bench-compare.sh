#!/usr/bin/env bash
# Did a commit make the benchmarks slower? Builds two commits, each in a folder of its own, runs the benchmarks of both
# interleaved (A B, B A, …), and prints for each how B compares with A.
#
#   scripts/bench-compare.sh COMMIT [COMMIT]     A and B; B is HEAD by default
#
# Environment: ROUNDS (10) processes per commit; FILTER (^(model|growth)) a regular expression of benchmarks; MIN_TIME
# (0.05) seconds per benchmark and process; LIMIT (10) the slowdown in percent that counts; FOLDER (build/bench-compare).
#
# A sample is the processor time of one process, as processes differ by more than what is repeated within one. Differences are judged
# by `faultline compare` of this checkout. Exits with status 1 where a slowdown of more than LIMIT is proven, with 3 where
# none is proven but some 95% interval reaches beyond LIMIT: then more ROUNDS are needed to know.
set -euo pipefail
cd "$(dirname "$0")/.."
[ $# -ge 1 ] && [ $# -le 2 ] || { echo 'usage: scripts/bench-compare.sh COMMIT [COMMIT]' >&2; exit 2; }
rounds=${ROUNDS:-10} filter=${FILTER:-^(model|growth)} min_time=${MIN_TIME:-0.05} limit=${LIMIT:-10}
folder=${FOLDER:-build/bench-compare}
[ "$rounds" -ge 3 ] || { echo 'bench-compare.sh: fewer than 3 rounds prove nothing' >&2; exit 2; }
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)

# build NAME COMMIT: leaves the benchmarks in $folder/NAME/build.
build() {
  local commit source=$folder/$1/source
  commit=$(git rev-parse --verify --quiet "$2^{commit}") || { echo "bench-compare.sh: '$2' is no commit" >&2; exit 2; }
  rm -rf "$source"
  mkdir -p "$source"
  git archive "$commit" | tar -x -C "$source"
  cmake -S "$source" -B "$folder/$1/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DFAULTLINE_TESTS=OFF >/dev/null
  cmake --build "$folder/$1/build" -j "$(nproc)" --target faultline_bench >"$folder/$1/build.log" ||
    { tail -n 30 "$folder/$1/build.log" >&2; exit 2; }
  printf '%s is %s\n' "$1" "$(git log -1 --format='%h %s' "$commit")"
}
scripts/install-deps.sh build
build A "$1"
build B "${2:-HEAD}"
cmake --preset release >/dev/null
cmake --build build/release -j "$(nproc)" --target faultline >/dev/null

rm -f "$folder"/[AB].*.json
for round in $(seq "$rounds"); do
  order='A B'
  [ $((round % 2)) -eq 1 ] || order='B A'
  for side in $order; do
    "$folder/$side/build/bench/faultline_bench" --benchmark_filter="$filter" --benchmark_min_time="$min_time" \
      --benchmark_out="$folder/$side.$round.json" --benchmark_out_format=json >"$folder/$side.log" 2>&1 ||
      { tail -n 5 "$folder/$side.log" >&2; exit 2; }
  done
done

# One file per side, with an entry for every process. Google Benchmark writes each key on a line of its own.
for side in A B; do
  awk '
    function value() { sub(/^ *"[a-z_]*": /, ""); sub(/,$/, ""); return $0 }
    BEGIN { printf "{\"benchmarks\":[" }
    /"run_name":/ { name = value() }
    /"cpu_time":/ { time = value() }
    /"time_unit":/ {
      printf "%s\n{\"name\":%s,\"run_type\":\"iteration\",\"real_time\":%s,\"time_unit\":%s}", separator, name, time, value()
      separator = ","
    }
    END { print "\n]}" }' "$folder/$side".[0-9]*.json >"$folder/$side.json"
done

# Each sample here is a process of its own, which the file of a single process could not say.
status=0
build/release/src/cli/faultline compare "$folder/A.json" "$folder/B.json" --within-process --brief \
  --json "$folder/compared.json" || status=$?
[ "$status" -le 1 ] || exit 2
awk -v limit="$limit" '
  function field(key) { return match($0, "\"" key "\":-?[0-9.e+-]+") ? substr($0, RSTART + length(key) + 3, RLENGTH - length(key) - 3) + 0 : "" }
  /^\{"kind":/ {
    match($0, /"operation":"[^"]*"/)
    name = substr($0, RSTART + 13, RLENGTH - 14)
    low = field("percent_low"); high = field("percent_high")
    if (low == "" || high == "") { unknown = unknown "\n  " name; next }
    rows++
    if (low > limit && /"verdict":"different"/) slower = slower sprintf("\n  %s: %+.1f%% to %+.1f%%", name, low, high)
    else if (high > limit) open = open sprintf("\n  %s: %+.1f%% to %+.1f%%", name, low, high)
    else within++
  }
  END {
    printf "\n%d of %d benchmarks are proven not to be slower by more than %s%% (95%% interval of each)\n", within, rows, limit
    if (slower != "") printf "proven slower by more than %s%%:%s\n", limit, slower
    if (open != "") printf "not known, as the interval reaches beyond %s%%:%s\n", limit, open
    if (unknown != "") printf "not compared:%s\n", unknown
    exit slower != "" ? 1 : (open != "" || unknown != "" || rows == 0) ? 3 : 0
  }' "$folder/compared.json"
