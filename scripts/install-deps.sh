#!/usr/bin/env bash
# Installs what building Faultline needs on Debian 12, and does nothing, quickly, when all of it is there.
#
#   scripts/install-deps.sh [build] [lint] [vm] [record] [fuzz]     groups of packages; build is the default
#
# Needs root, or sudo. Without either it prints the command to run and exits with status 2.
set -euo pipefail

# Compiler and tools, the libraries (Abseil, fmt, CLI11, nlohmann-json, Boost.Math, libarchive, zlib, elfutils), and what tests and benchmarks use.
build=(
  g++ make cmake ninja-build git pkg-config
  libabsl-dev libfmt-dev libcli11-dev nlohmann-json3-dev libboost-math1.74-dev libarchive-dev zlib1g-dev libdw-dev
  libgtest-dev libgmock-dev librapidcheck-dev libbenchmark-dev libcapstone-dev binutils-aarch64-linux-gnu
)
lint=(clang-format-19 clang-tidy-19)
# The machine vm: QEMU for both architectures, and the compiler of the arm64 agent.
vm=(qemu-system-x86 qemu-system-arm g++-aarch64-linux-gnu)
# Recording programs: QEMU's user mode, and for its tests a compiler for arm64 and callgrind_annotate.
record=(qemu-user g++-aarch64-linux-gnu valgrind)
fuzz=(clang-19 libclang-rt-19-dev)

wanted=()
for group in "${@:-build}"; do
  case $group in
    build) wanted+=("${build[@]}") ;;
    lint) wanted+=("${lint[@]}") ;;
    vm) wanted+=("${vm[@]}") ;;
    record) wanted+=("${record[@]}") ;;
    fuzz) wanted+=("${fuzz[@]}") ;;
    *) echo "install-deps.sh: no group of packages is called '$group'; there are build, lint, vm, record and fuzz" >&2; exit 2 ;;
  esac
done

if ! command -v dpkg-query >/dev/null; then
  echo "install-deps.sh: this is not a Debian system; these packages of Debian 12 are needed: ${wanted[*]}" >&2
  exit 2
fi

# dpkg-query fails where a name is unknown to it, which is an answer too.
installed=$(dpkg-query -W -f '${Package} ${db:Status-Status}\n' "${wanted[@]}" 2>/dev/null | sed -n 's/ installed$//p' || true)
missing=()
for package in "${wanted[@]}"; do
  grep -qxF "$package" <<<"$installed" || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

install=(apt-get install -y --no-install-recommends "${missing[@]}")
run=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    printf 'Some packages are missing, and only root can install them. As root, run:\n\n  apt-get update && %s\n\n' "${install[*]}" >&2
    exit 2
  fi
  run=(sudo)
fi
echo "Installing ${#missing[@]} packages: ${missing[*]}"
"${run[@]}" apt-get update -qq
"${run[@]}" env DEBIAN_FRONTEND=noninteractive "${install[@]}" -qq >/dev/null
