#!/usr/bin/env bash
# What does recording cost? Runs programs under QEMU alone, under QEMU with a plugin that only counts accesses, under QEMU
# with the recorder's plugin, whose records go nowhere, under the whole of `faultline record`, which compresses them and
# prints a summary, and under valgrind's lackey with --trace-mem=yes; one after the other in each round. Prints the medians
# of processor time, user and system, and ratios.
#
#   scripts/record-overhead.sh [ROUNDS]      3 by default
#
# Needs the build of `make bench`, qemu-user and valgrind, python3, perl and git. A program's output, and lackey's, are thrown
# away. SKIP_LACKEY=1 leaves lackey out, which takes minutes.
set -euo pipefail
cd "$(dirname "$0")/.."
rounds=${1:-3}
case $rounds in *[!0-9]* | '' | 0) echo "record-overhead.sh: $rounds: expected a number of rounds" >&2; exit 2 ;; esac
scripts/install-deps.sh build record
command -v valgrind >/dev/null || [ -n "${SKIP_LACKEY:-}" ] ||
  { echo 'record-overhead.sh: no valgrind: apt-get install valgrind, or SKIP_LACKEY=1' >&2; exit 2; }
cmake --preset release >/dev/null
cmake --build build/release --target faultline faultline-counting >/dev/null
recorder=$PWD/build/release/bin/faultline-recorder.so
counting=$PWD/build/release/bin/faultline-counting.so
faultline=$PWD/build/release/src/cli/faultline
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkfifo "$scratch/pipe"
export LC_ALL=C PYTHONHASHSEED=0 PERL_HASH_SEED=0

seconds() { # of processor time that a command takes
  local TIMEFORMAT='%U %S'
  { time "$@" >/dev/null 2>"$scratch/errors"; } 2>"$scratch/time" ||
    { echo "record-overhead.sh: $*: failed" >&2; tail -n 3 "$scratch/errors" >&2; exit 2; }
  awk '{ print $1 + $2 }' "$scratch/time"
}
median() { sort -n "$1" | awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'; }

git init -q "$scratch/repository"
for i in $(seq 200); do
  seq "$i" 900 >"$scratch/repository/file"
  git -C "$scratch/repository" add file
  git -C "$scratch/repository" -c user.name=a -c user.email=a@example.org commit -q -m "$i"
done

measure() { # NAME COMMAND…
  local name=$1 round accesses
  shift
  rm -f "$scratch"/*.seconds
  for round in $(seq "$rounds"); do
    seconds qemu-x86_64 "$@" >>"$scratch/qemu.seconds"
    seconds qemu-x86_64 -plugin "$counting" "$@" >>"$scratch/counting.seconds"
    accesses=$(sed -n 's/^accesses: //p' "$scratch/errors")
    cat "$scratch/pipe" >/dev/null &
    seconds qemu-x86_64 -plugin "$recorder,pipe=$scratch/pipe" "$@" >>"$scratch/plugin.seconds"
    wait
    seconds "$faultline" record -o "$scratch/recording" -- "$@" >>"$scratch/record.seconds"
    [ -n "${SKIP_LACKEY:-}" ] || seconds valgrind --tool=lackey --trace-mem=yes --log-file=/dev/null "$@" >>"$scratch/lackey.seconds"
  done
  local lackey=-
  [ -n "${SKIP_LACKEY:-}" ] || lackey=$(median "$scratch/lackey.seconds")
  awk -v name="$name" -v n="$accesses" -v q="$(median "$scratch/qemu.seconds")" -v c="$(median "$scratch/counting.seconds")" \
    -v p="$(median "$scratch/plugin.seconds")" -v r="$(median "$scratch/record.seconds")" -v l="$lackey" \
    -v bytes="$(stat -c %s "$scratch/recording")" 'BEGIN {
      printf "%-16s %10.1f %6.2f %8.2f %6.2f %6.2f %6s %15.2f %13s %14.1f\n", name, n / 1e6, q, c, p, r, l, p / c,
        l == "-" ? "-" : sprintf("%.0f", l / r), bytes / 1024 / (n / 1e6) }'
}

printf 'medians of %s rounds, in seconds of processor time\n' "$rounds"
printf '%-16s %10s %6s %8s %6s %6s %6s %15s %13s %14s\n' program 'accesses/M' QEMU counting plugin record lackey \
  plugin/counting lackey/record 'KiB/M accesses'
measure 'python3 start-up' /usr/bin/python3 -c 'print(1)'
measure 'git log --stat' /usr/bin/git -C "$scratch/repository" log --stat
measure 'perl, a loop' /usr/bin/perl -e 'my %h; for my $i (1 .. 100_000) { $h{$i % 20_000} += $i } print scalar keys %h'
