#!/usr/bin/env bash
# Proves the promise of the README: in a fresh Debian 12, a fresh clone needs `make demo` and `make test`, nothing else.
#
#   scripts/fresh-check.sh [--prepare] [ROOT]
#
# Makes a minimal Debian 12 below ROOT (a new folder of its own by default, removed at the end) with make and git in it,
# clones the last commit of this repository into it, and runs the two commands there as root. --prepare stops after the
# clone. A ROOT that exists already is used again, with a new clone. Needs root and debootstrap. Packages come from where
# this machine's apt gets them.
set -euo pipefail
repository=$(cd "$(dirname "$0")/.." && pwd)

die() { echo "fresh-check.sh: $*" >&2; exit 2; }
[ "$(id -u)" -eq 0 ] || die 'needs root, for debootstrap and chroot'
command -v debootstrap >/dev/null || die 'needs debootstrap: apt-get install debootstrap'

prepare=no
if [ "${1:-}" = --prepare ]; then prepare=yes; shift; fi
root=${1:-}
if [ -z "$root" ]; then
  [ $prepare = no ] || die '--prepare needs a ROOT, as that of its own would be removed'
  root=$(mktemp -d)
  trap 'rm -rf --one-file-system "$root"' EXIT
fi

# The mirror that serves this machine the main archive of Debian 12, and the archives of its updates.
suite=bookworm
sources=$(apt-get indextargets --format '$(SITE) $(RELEASE)' 'Created-By: Packages' 'Component: main' |
  awk -v suite=$suite '$2 == suite || $2 == suite "-updates" || $2 == suite "-security"' | sort -u)
mirror=$(awk -v suite=$suite '$2 == suite {print $1; exit}' <<<"$sources")
[ -n "$mirror" ] || die "apt on this machine knows no archive of $suite"

if [ ! -e "$root/etc/debian_version" ]; then
  debootstrap --variant=minbase --include=ca-certificates,make,git $suite "$root" "$mirror"
  while read -r site release; do echo "deb $site $release main"; done <<<"$sources" >"$root/etc/apt/sources.list"
  # A proxy, if apt uses one here, and whatever else lets it reach the mirror.
  apt-config dump Acquire >"$root/etc/apt/apt.conf.d/90host"
  cp --dereference /etc/resolv.conf /etc/hosts "$root/etc/"
fi

# /proc and /dev as any system has them. In a mount namespace of its own, so that nothing of it outlives this script.
in_root() {
  unshare --mount --propagation private sh -ec '
    root=$1; shift
    mount -t proc proc "$root/proc"
    mount --rbind /dev "$root/dev"
    exec chroot "$root" env -i HOME=/root TERM="${TERM:-dumb}" LANG=C.UTF-8 \
      PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"' sh "$root" "$@"
}

rm -rf "$root/root/faultline" "$root/root/faultline.bundle"
git -C "$repository" bundle create -q "$root/root/faultline.bundle" HEAD
in_root git clone -q /root/faultline.bundle /root/faultline
[ $prepare = no ] || { echo "Ready: $root, with a clone in /root/faultline"; exit 0; }

began=$SECONDS
in_root make -C /root/faultline demo
printf '\n==== make demo: %d s\n' $((SECONDS - began))
began=$SECONDS
in_root make -C /root/faultline test
printf '\n==== make test: %d s\n' $((SECONDS - began))
