#!/usr/bin/env bash
# Records what real programs of Debian 12 do with their memory, and runs each recording on models.
#
#   scripts/dataset.sh --install               installs the programs; needs root
#   scripts/dataset.sh [-o FOLDER] [NAME…]     records all, or those named; FOLDER is ./dataset unless given
#   scripts/dataset.sh --list                  their names
#
# Writes FOLDER/NAME.rec, and FOLDER/NAME.json: what dataset-tables.py makes docs/dataset.md of. A recorded result that a model
# does not give is said, and is exit status 1. A program that is not installed is passed over.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
work=$here/dataset
faultline=${FAULTLINE:-$here/../build/release/src/cli/faultline}

packages=(
  python3 nodejs openjdk-17-jdk-headless luajit ruby php-cli sqlite3 postgresql-15 redis-server redis-tools gcc clang-14
  libclang-rt-14-dev libjemalloc2 libmimalloc2.0 git perl gjs libjavascriptcoregtk-4.0-bin golang-go bash
)
names=(
  python node openjdk luajit ruby php spidermonkey webkit go
  sqlite postgresql redis gcc clang glibc-malloc jemalloc mimalloc scudo git perl bash
)

out=dataset
wanted=()
while [ $# -gt 0 ]; do
  case $1 in
    --install)
      DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${packages[@]}"
      exit ;;
    --list) printf '%s\n' "${names[@]}"; exit ;;
    -o) out=${2:?"dataset.sh: -o: expected a folder"}; shift ;;
    -*) echo "dataset.sh: $1: expected --install, --list, -o FOLDER or names of programs" >&2; exit 2 ;;
    *) wanted+=("$1") ;;
  esac
  shift
done
[ ${#wanted[@]} -gt 0 ] || wanted=("${names[@]}")
[ -x "$faultline" ] || { echo "dataset.sh: no $faultline: build it, or set FAULTLINE" >&2; exit 2; }
mkdir -p "$out"
out=$(cd "$out" && pwd)

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
export LC_ALL=C.UTF-8 PYTHONHASHSEED=0 PERL_HASH_SEED=0 GOMAXPROCS=2 HOME=$scratch

record() { # a command that can be run again: also what the kernel counts for it without QEMU
  python3 "$work/native.py" "${@:2}" >"$out/$1.native"
  record_once "$@"
}

record_once() {
  timeout 600 "$faultline" record -o "$out/$1.part" -- "${@:2}" >/dev/null
}

library() { # the file of a library that ld.so knows by this name
  ldconfig -p | sed -n "s/.*$1 .*=> //p" | head -1
}

allocator() { # the load, with an allocator's library or without
  local name=$1 libraries=("${@:2}")
  cc -O2 -pthread -o load "$work/load.c" ${libraries:+"${libraries[@]}" -Wl,-rpath,"$(dirname "${libraries[0]}")"}
  record "$name" ./load
}

record_one() {
  case $1 in
    python) record python /usr/bin/python3 "$work/work.py" ;;
    node) record node node "$work/work.js" ;;
    openjdk)
      javac -d . "$work/Main.java"
      record openjdk java -Xmx64m -XX:+UseSerialGC -XX:-UsePerfData -cp . Main ;;
    luajit) record luajit luajit "$work/work.lua" ;;
    ruby) record ruby ruby --disable-gems "$work/work.rb" ;;
    php) record php php -n -d opcache.enable_cli=0 "$work/work.php" ;;
    spidermonkey) record spidermonkey gjs "$work/work.js" ;;
    webkit) record webkit jsc "$work/work.js" ;;
    go)
      CGO_ENABLED=0 GO111MODULE=off GOCACHE=$scratch/go go build -o go-program "$work/main.go"
      record go ./go-program ;;
    sqlite) record sqlite sqlite3 -batch -init /dev/null :memory: ".read $work/work.sql" ;;
    postgresql)
      local bin=/usr/lib/postgresql/15/bin as=()
      [ -x $bin/postgres ]
      if [ "$(id -u)" = 0 ]; then # which postgres refuses
        as=(setpriv --reuid=postgres --regid=postgres --clear-groups)
        chmod 755 "$scratch"
        install -d -o postgres cluster
        chown postgres "$out"
      fi
      "${as[@]}" $bin/initdb -D cluster --no-sync >/dev/null
      "${as[@]}" sh -c 'exec timeout 600 "$1" record -o "$2" -- "$3" --single -D cluster -j postgres <"$4" >/dev/null' \
        sh "$faultline" "$out/postgresql.part" $bin/postgres "$work/work.pgsql" ;;
    redis)
      (
        for _ in $(seq 100); do redis-cli -s "$scratch/redis" ping >/dev/null 2>&1 && break || sleep 0.2; done
        seq 2000 | sed 's/.*/SET key:& value-of-&/' | redis-cli -s "$scratch/redis" >/dev/null
        redis-cli -s "$scratch/redis" shutdown nosave >/dev/null 2>&1
      ) &
      record_once redis redis-server --port 0 --unixsocket "$scratch/redis" --save '' --appendonly no --dir "$scratch"
      wait ;;
    gcc) record gcc gcc -O2 -c "$work/work.c" -o gcc.o ;;
    clang) record clang clang-14 -O2 -c "$work/work.c" -o clang.o ;;
    glibc-malloc) allocator glibc-malloc ;;
    jemalloc) allocator jemalloc "$(library libjemalloc.so.2)" ;;
    mimalloc) allocator mimalloc "$(library libmimalloc.so.2)" ;;
    scudo) allocator scudo /usr/lib/llvm-14/lib/clang/14.0.6/lib/linux/libclang_rt.scudo_standalone-x86_64.so ;;
    git)
      if [ ! -d repository ]; then
        git init -q repository
        for i in $(seq 20); do
          seq "$i" 500 >repository/file"$i"
          git -C repository add .
          GIT_AUTHOR_DATE="2024-01-01T00:00:00Z" GIT_COMMITTER_DATE="2024-01-01T00:00:00Z" \
            git -C repository -c user.name=a -c user.email=a@example.org commit -qm "Change $i"
        done
      fi
      record git git -C repository log --stat ;;
    perl) record perl perl "$work/work.pl" ;;
    bash) record bash bash -c 'for i in 1 2 3 4 5; do ls / | wc -l; done' ;;
    *) echo "dataset.sh: no program is called '$1': one of ${names[*]}" >&2; exit 2 ;;
  esac
}

status=0
for name in "${wanted[@]}"; do
  if ! (record_one "$name") >"$scratch/log" 2>&1; then
    echo "$name: not recorded: $(tail -1 "$scratch/log")"
    continue
  fi
  mv "$out/$name.part" "$out/$name.rec"
  python3 "$work/summarize.py" "$faultline" "$out/$name.rec" >"$out/$name.json.part" || status=1
  mv "$out/$name.json.part" "$out/$name.json"
  echo "$name: $(stat -c %s "$out/$name.rec") bytes"
done
exit $status
