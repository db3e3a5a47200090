#!/usr/bin/env python3
"""tables.py FOLDER: the tables of docs/dataset.md from what dataset.sh left in a folder."""
import json
import pathlib
import sys

NAMES = {
    "python": "Python 3.11", "node": "Node.js", "openjdk": "OpenJDK 17", "luajit": "LuaJIT 2.1", "ruby": "Ruby 3.1",
    "php": "PHP 8.2", "spidermonkey": "SpiderMonkey 102 (gjs)", "webkit": "JavaScriptCore (jsc)", "go": "Go 1.19, static",
    "sqlite": "SQLite 3.40", "postgresql": "PostgreSQL 15, single user", "redis": "Redis 7.0", "gcc": "GCC 12", "clang": "clang 14",
    "glibc-malloc": "load on glibc's malloc", "jemalloc": "load on jemalloc 5.3", "mimalloc": "load on mimalloc 2.0",
    "scudo": "load on Scudo (clang 14)", "git": "git 2.39", "perl": "Perl 5.36", "bash": "bash 5.2",
}


def protection(bits):
    return "mixed" if bits is None else "".join(c if bits & b else "-" for c, b in (("r", 1), ("w", 2), ("x", 4)))


def span(first):
    return str(first) if first < 2 else f"{first:,}–{2 * first - 1:,}"


def main():
    folder = pathlib.Path(sys.argv[1])
    programs = {name: json.loads((folder / f"{name}.json").read_text()) for name in NAMES if (folder / f"{name}.json").exists()}
    print("| program | processes | calls | changes of protection | touches | most VMAs | faults, 5.10 | faults, 6.18 | write upgrades, 5.10 → 6.18 | KB |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for name, p in programs.items():
        old, new = p["faults"]["model:5.10"], p["faults"]["model:6.18"]
        upgrades = f"{p['write_upgrades']['model:5.10']:,} → {p['write_upgrades']['model:6.18']:,}"
        print(f"| {NAMES[name]} | {p['processes'] + p['forks']} | {p['memory_calls']:,} | {p['protection_calls']:,} | {p['touches']:,} | "
              f"{p['most_vmas']:,} | {old:,} | {new:,} | {upgrades} | {p['bytes'] // 1024:,} |")
    print()
    print("| program | model:6.18 | this kernel | |")
    print("|---|---|---|---|")
    for name, p in programs.items():
        if p.get("native_faults"):
            new, native = p["faults"]["model:6.18"], p["native_faults"]
            print(f"| {NAMES[name]} | {new:,} | {native:,} | {(new - native) / native:+.1%} |")
    total = {}
    share = {}
    for name, p in programs.items():
        for change in p["protection_changes"]:
            key = (change["before"], change["after"], change["pages_from"], change["present_from"])
            total[key] = total.get(key, 0) + change["times"]
            share.setdefault(key, {})[name] = change["times"]
    print()
    print("| from → to | pages | present | times | programs | most in |")
    print("|---|---|---|---|---|---|")
    for key, times in sorted(total.items(), key=lambda item: -item[1]):
        before, after, pages, present = key
        most = max(share[key], key=share[key].get)
        print(f"| {protection(before)} → {protection(after)} | {span(pages)} | {span(present)} | {times:,} | {len(share[key])} | {NAMES[most]} |")


main()
