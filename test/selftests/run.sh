#!/usr/bin/env bash
# A witness that nobody here wrote: the kernel's own tests of memory management run on the kernel of this machine under strace, and what
# each call returned is held against the model. Nothing of the kernel's source enters the repository: it is built in --work.
#   apt-get download linux-source-6.12, unpack it with dpkg-deb -x, then:
#   test/selftests/run.sh linux-source-6.12.tar.xz | FOLDER-OF-AN-UNPACKED-KERNEL [TEST…]
#     --faultline COMMAND   build/release/src/cli/faultline
#     --on MACHINE          the model of this kernel: model:6.18 on a 6.18
#     --work FOLDER         build/selftests; the logs stay there, as TEST.log
# Exit status 0: all that the logs hold holds on the model. 1: some does not. 2: it could not be tried.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
faultline=$root/build/release/src/cli/faultline
work=$root/build/selftests
machine=model:$(uname -r | cut -d. -f1,2)
fail() { echo "run.sh: $*" >&2; exit 2; }
while [[ ${1:-} == --* ]]; do
  [[ $# -ge 2 ]] || fail "$1 wants a value"
  case $1 in
    --faultline) faultline=$2 ;;
    --on) machine=$2 ;;
    --work) work=$2 ;;
    *) fail "unknown option $1: expected --faultline, --on or --work" ;;
  esac
  shift 2
done
[[ $# -ge 1 ]] || fail "expected a kernel's source: linux-source-6.12.tar.xz, or the folder that it was unpacked to"
source=$1
shift
for tool in gcc make strace; do command -v "$tool" >/dev/null || fail "there is no $tool: apt-get install gcc make strace libc6-dev"; done
[[ -x $faultline ]] || fail "there is no $faultline: build it, or say --faultline COMMAND"
mkdir -p "$work/bin" "$work/logs"
work=$(cd "$work" && pwd)

# Only what the tests and their headers are made of.
if [[ -f $source ]]; then
  echo "unpacking $(basename "$source")" >&2
  tree=$work/source
  rm -rf "$tree" && mkdir -p "$tree"
  tar -xf "$source" -C "$tree" --strip-components=1 --wildcards '*/Makefile' '*/scripts' '*/include/uapi' '*/include/asm-generic' \
    '*/arch/x86' '*/arch/arm64' '*/tools/testing/selftests/mm' '*/tools/testing/selftests/*.h' '*/tools/include' '*/mm/gup_test.h'
elif [[ -d $source ]]; then
  tree=$(cd "$source" && pwd)
else
  fail "$source: expected a file or a folder"
fi
tests=$tree/tools/testing/selftests/mm
[[ -f $tests/mseal_test.c || -f $tests/mremap_test.c ]] || fail "$source holds no tools/testing/selftests/mm"
headers=$work/headers
if [[ -d $tree/usr/include/linux ]]; then
  headers=$tree
else
  make -s -C "$tree" O="$headers" headers >"$work/headers.log" 2>&1 || { tail -3 "$work/headers.log" >&2; fail "make headers failed"; }
fi

known=(mseal_test mremap_test mremap_dontunmap mdwe_test madv_populate map_fixed_noreplace mlock2-tests merge guard-regions
  droppable mkdirty process_madv on-fault-limit soft-dirty cow)
names=("$@")
[[ ${#names[@]} -gt 0 ]] || names=("${known[@]}")

# The model has no privileges, so the tests may have none. They leave files in their folder.
as_user=()
if [[ $(id -u) -eq 0 ]]; then
  as_user=(setpriv --reuid=65534 --regid=65534 --clear-groups)
  chmod 777 "$work/logs"
fi

shared=()
for file in vm_util.c thp_settings.c hugepage_settings.c; do [[ -f $tests/$file ]] && shared+=("$tests/$file"); done
touch "$work/bin/local_config.h" "$work/bin/local_config.h_gen" # no liburing
differing=0
printf '%-20s %-34s %s\n' test "on $(uname -r)" "on $machine"
for name in "${names[@]}"; do
  if [[ ! -f $tests/$name.c ]]; then
    printf '%-20s is not in this source\n' "$name"
    continue
  fi
  if ! gcc -O2 -w -D_GNU_SOURCE -U_FORTIFY_SOURCE -I "$headers/usr/include" -I "$tree" -I "$tests" -I "$tests/.." -I "$work/bin" \
    -o "$work/bin/$name" "$tests/$name.c" "${shared[@]}" -lpthread -lm -lrt 2>"$work/bin/$name.err"; then
    printf '%-20s is not built: %s\n' "$name" "$(grep -m1 error "$work/bin/$name.err" | sed 's/.*error: //')"
    continue
  fi
  log=$work/logs/$name.log
  rm -f "$log" "$work/logs/$name.out"
  status=0
  (cd "$work/logs" && timeout 300 "${as_user[@]}" strace -f -o "$log" \
    -e 'trace=%memory,%process,%signal,prctl,memfd_create,ftruncate,close' "$work/bin/$name") \
    >"$work/logs/$name.out" 2>&1 </dev/null || status=$?
  totals=$(grep -ao 'pass:[0-9]* fail:[0-9]*\|skip:[0-9]*' "$work/logs/$name.out" | tail -2 | tr '\n' ' ' || true)
  [[ $status -eq 0 || -n $totals ]] || totals=$(tail -1 "$work/logs/$name.out" | cut -c1-34)
  held=0
  "$faultline" run "$log" --on "$machine" >"$work/logs/$name.run" 2>"$work/logs/$name.err" || held=$?
  if [[ $held -gt 1 ]]; then
    verdict=$(head -1 "$work/logs/$name.err" | sed 's/.*error: //')
  else
    verdict=$(grep -a 'expectations\? held' "$work/logs/$name.run" || echo 'nothing to hold')
    out=$(grep -a 'left out' "$work/logs/$name.run" | sed 's/ left out.*result: / left out (/; s/$/)/' || true)
    verdict+=${out:+, $out}
  fi
  printf '%-20s %-34s %s\n' "$name" "$totals" "$verdict"
  grep -a '^not ok' "$work/logs/$name.out" | sed 's/^/    here: /' || true
  grep -a 'FAILED on' "$work/logs/$name.run" | sed 's/^/    /' || true
  [[ $held -eq 0 ]] || differing=$((differing + 1))
done
echo "${#names[@]} tests, $differing differ; logs in $work/logs"
[[ $differing -eq 0 ]]
