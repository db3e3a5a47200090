#!/usr/bin/env bash
# The experiments of the three mailing-list threads, each kernel before and after its patch, and this machine's kernel
# beside them. Takes no arguments; FAULTLINE names another faultline than that of build/release.
set -euo pipefail
cd "$(dirname "$0")/.."

faultline=${FAULTLINE:-build/release/src/cli/faultline}
failed=0
bold='' plain=''
if [ -t 1 ]; then bold=$'\033[1m' plain=$'\033[0m'; fi

# show TITLE ARGUMENT…: says what is asked, and how it is asked, and runs it. A demonstration goes on after a failure.
show() {
  printf '\n%s%s%s\n$ faultline' "$bold" "$1" "$plain"
  shift
  printf ' %q' "$@"
  printf '\n\n'
  "$faultline" "$@" || failed=1
}

show 'mprotect: does the kernel make pages writable again, or does each take a fault?' \
  run programs/mprotect-cycle.fl --on model:5.10 --on model:5.10+upgrade=page-count --on model:6.12 --on live

show 'arm64: first touch by an atomic, read fault first or write fault at once? And x86-64?' \
  run programs/atomic-populate.fl --on model:arm64/6.8 --on model:arm64/6.8+rmw=write-first --on model:6.12

show 'arm64: the same, when the instruction lies in text that cannot be read' \
  run programs/execute-only.fl --on model:arm64/6.8 --on model:arm64/6.8+rmw=write-first \
  --on model:arm64/6.8+rmw=write-first+exec-only=epan

show 'mseal: what does the seal test cost a call, tested upfront or as the VMAs are reached?' \
  run programs/seal-sweep.fl --on model:6.8 --on model:6.8+seal=upfront --on model:6.12 --on live

show 'mseal: what does each call return on sealed memory?' \
  run programs/seal-matrix.fl --on model:6.8 --on model:6.8+seal=upfront --on model:6.12 --on live

# Real kernels, where QEMU and they are.
kernels=$("$faultline" kernel list)
have() {
  command -v "$1" >/dev/null || return 1
  shift
  for kernel in "$@"; do grep -q "^vm:${kernel//./\\.}" <<<"$kernels" || return 1; done
}
if have qemu-system-x86_64 5.10 6.1 6.12; then
  show 'mprotect on real kernels: instructions, exactly' \
    run programs/mprotect-cycle.fl --on vm:5.10 --on vm:6.1 --on vm:6.12
  show 'mprotect on 5.10 and 6.12: where do the instructions go?' \
    run programs/mprotect-cycle.fl --on vm:5.10 --on vm:6.12 --by function --line 11
  show 'mseal on real kernels: calls over 8 VMAs' \
    run programs/seal-sweep.fl --on vm:5.10 --on vm:6.1 --on vm:6.12 --set vmas=8 --set ranges=50
else
  printf '\nThe same on real kernels: make kernels, then make demo\n'
fi
if have qemu-system-aarch64 arm64/6.12; then
  show 'arm64 6.12: first touch by an atomic takes two faults' \
    run programs/atomic-populate.fl --on vm:arm64/6.12 --set size=1M --set passes=2
fi

exit $failed
