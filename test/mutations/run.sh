#!/usr/bin/env bash
# Would the checker find a mistake in the model? Makes the mistakes of this folder one at a time in a copy of the tree, builds it, and
# runs `faultline check` against the kernel of this machine. Exit status 0: each was found within the time limit.
#   test/mutations/run.sh [--seconds N] [MUTATION…]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
work=$root/build/mutations
seconds=60
if [[ ${1:-} == --seconds ]]; then
  seconds=${2:?--seconds wants a number}
  shift 2
fi
names=("$@")
if [[ ${#names[@]} -eq 0 ]]; then
  for patch in "$here"/*.patch; do names+=("$(basename "$patch" .patch)"); done
fi
for name in "${names[@]}"; do
  [[ -f $here/$name.patch ]] || { echo "run.sh: there is no mutation $name in $here" >&2; exit 2; }
done

# Built as the preset builds it, at the same place in its tree, so that ccache knows all but the mistake.
export CCACHE_BASEDIR=$work/tree CCACHE_NOHASHDIR=1
binaries=$work/tree/build/release
build() { cmake --build "$binaries" --target faultline >"$work/build.log" 2>&1; }
copy() { # what differs only, so that little is built again
  for file in $(cd "$root" && git ls-files src cmake CMakeLists.txt CMakePresets.json); do
    cmp -s "$root/$file" "$work/tree/$file" && continue
    mkdir -p "$work/tree/$(dirname "$file")"
    cp "$root/$file" "$work/tree/$file"
  done
}

mkdir -p "$work/tree"
copy
launcher=()
command -v ccache >/dev/null && launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
cmake -S "$work/tree" --preset release -DFAULTLINE_TESTS=OFF -DFAULTLINE_BENCH=OFF "${launcher[@]}" >"$work/build.log" 2>&1 || { tail -20 "$work/build.log" >&2; exit 2; }
build || { tail -20 "$work/build.log" >&2; exit 2; }
faultline=$binaries/src/cli/faultline

if ! "$faultline" check --against live --seconds 10 >"$work/clean.log" 2>&1; then
  echo "The model differs from this kernel without any mutation:" >&2
  cat "$work/clean.log" >&2
  exit 2
fi
survived=0
for name in "${names[@]}"; do
  copy
  what=$(head -1 "$here/$name.patch")
  if ! patch -s -N -p0 -d "$work/tree" <"$here/$name.patch" || ! build; then
    printf '%-36s does not apply or build any more: %s\n' "$name" "$what"
    survived=$((survived + 1))
    copy
    continue
  fi
  status=0
  "$faultline" check --against live --seconds "$seconds" --json "$work/outcome.json" >"$work/$name.log" 2>&1 || status=$?
  if [[ $status -eq 1 ]]; then
    programs=$(sed -n 's/^ *"programs": \([0-9]*\).*/\1/p' "$work/outcome.json")
    took=$(sed -n 's/^ *"seconds": \([0-9]*\.[0-9]\).*/\1/p' "$work/outcome.json")
    printf '%-36s found after %7s programs, %4s s: %s\n' "$name" "$programs" "$took" "$what"
  else
    printf '%-36s NOT FOUND in %s s (exit status %s): %s\n' "$name" "$seconds" "$status" "$what"
    survived=$((survived + 1))
  fi
done
copy
echo "${#names[@]} mutations, $survived not found"
[[ $survived -eq 0 ]]
