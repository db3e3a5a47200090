#!/usr/bin/env python3
"""Writes a program of random operations for `faultline calibrate`, none of which fails.

    scripts/random-program.py SEED > programs/calibration/held-out/random-13.fl

Every operation runs once at each of some twenty places, so that each line is seen often enough to be fitted or judged.
Equal seeds give equal programs.
"""

import random
import sys

LENGTHS = [1, 1, 1, 2, 2, 3, 3, 4, 6, 8, 10, 12, 16, 20, 24, 32, 40, 48, 60]
FILE_PAGES = 64
OPERATIONS = 28

WARM_UP = """\
# A process that has lived for a while: the kernel's free lists are full, and the tree of VMAs is not empty.
measure "warm-up" {
    warm = mmap(NULL, 3200 * PAGE, PROT_NONE, MAP_PRIVATE|MAP_ANONYMOUS|MAP_NORESERVE, -1, 0)
    munmap(warm, 3200 * PAGE) = 0
    for i in 0..1600 {
        mmap(warm + 2 * i * PAGE, PAGE, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS|MAP_NORESERVE|MAP_FIXED, -1, 0)
        store(warm + 2 * i * PAGE)
    }
    for i in 0..100 { munmap(warm + (32 * i + 2) * PAGE, 30 * PAGE) = 0 }
}
"""


class Piece:
    """Pages that are one VMA for certain: what the kernel merges is taken to be apart."""

    def __init__(self, access, file=False, locked=False):
        self.access, self.file, self.locked = access, file, locked


class Space:
    """What lies at one place, page by page."""

    def __init__(self, rng):
        self.rng = rng
        self.first = rng.choice([80, 100, 120])
        self.reach = 2 * self.first
        self.pages = {}
        self.put(0, self.first, Piece("rw"))

    def put(self, start, pages, piece):
        for page in range(start, start + pages):
            self.pages[page] = piece

    def cut(self, at):
        """What lies from there on is another piece than what lies before."""
        old = self.pages.get(at)
        if old is None or self.pages.get(at - 1) is not old:
            return
        rest = Piece(old.access, old.file, old.locked)
        for page in [p for p in self.pages if p >= at and self.pages[p] is old]:
            self.pages[page] = rest

    def cut_out(self, start, pages):
        self.cut(start)
        self.cut(start + pages)
        return [p for p in range(start, start + pages) if p in self.pages]

    def change(self, start, pages, **values):
        """Cuts what is there, and gives the part other values."""
        for page in self.cut_out(start, pages):
            vars(self.pages[page]).update(values)

    def remove(self, start, pages):
        for page in self.cut_out(start, pages):
            del self.pages[page]

    def range_of(self, allows):
        """A random range of mapped pages that all are allowed, or nothing."""
        for _ in range(40):
            start, pages = self.anywhere()
            if all(p in self.pages and allows(self.pages[p]) for p in range(start, start + pages)):
                return start, pages
        return None

    def one_piece(self):
        found = self.range_of(lambda piece: not piece.locked)
        if found is None:
            return None
        start, pages = found
        while self.pages[start + pages - 1] is not self.pages[start]:
            pages -= 1
        return start, pages

    def anywhere(self):
        pages = self.rng.choice(LENGTHS)
        return self.rng.randrange(max(1, self.first + 20 - pages)), pages


def at(start):
    return "a" if start == 0 else f"a + {start} * PAGE"


def size(pages):
    return "PAGE" if pages == 1 else f"{pages} * PAGE"


def access(space, name, needs):
    found = space.range_of(lambda piece: all(letter in piece.access for letter in needs))
    return found and f"{name}({at(found[0])}, {size(found[1])})"


def mprotect(space):
    prot, means = space.rng.choice(
        [("rw", "rw"), ("rw", "rw"), ("PROT_READ", "r"), ("PROT_READ", "r"), ("PROT_NONE", ""), ("PROT_READ|PROT_EXEC", "rx")]
    )
    found = space.range_of(lambda piece: not piece.locked)
    if found is None:
        return None
    space.change(*found, access=means)
    return f"mprotect({at(found[0])}, {size(found[1])}, {prot}) = 0"


def munmap(space):
    start, pages = space.anywhere()
    space.remove(start, pages)
    return f"munmap({at(start)}, {size(pages)}) = 0"


def mmap(space):
    start, pages = space.anywhere()
    prot, means = space.rng.choice([("rw", "rw"), ("rw", "rw"), ("PROT_READ", "r"), ("PROT_NONE", "")])
    space.remove(start, pages)
    space.put(start, pages, Piece(means))
    return f"mmap({at(start)}, {size(pages)}, {prot}, anon|MAP_FIXED, -1, 0)"


def mmap_file(space):
    start, pages = space.anywhere()
    offset = space.rng.choice([0, 4, 16])
    if offset + pages > FILE_PAGES:
        return None
    space.remove(start, pages)
    space.put(start, pages, Piece("rw", file=True))
    return f"mmap({at(start)}, {size(pages)}, rw, MAP_SHARED|MAP_FIXED, f, {size(offset) if offset else 0})"


def madvise_pages(space):
    advice = space.rng.choice(["MADV_DONTNEED", "MADV_DONTNEED", "MADV_FREE"])
    found = space.range_of(lambda piece: not piece.locked and not (piece.file and advice == "MADV_FREE"))
    return found and f"madvise({at(found[0])}, {size(found[1])}, {advice}) = 0"


def madvise_flags(space):
    advice = space.rng.choice(
        ["MADV_NORMAL", "MADV_RANDOM", "MADV_SEQUENTIAL", "MADV_DONTFORK", "MADV_DOFORK", "MADV_DONTDUMP", "MADV_DODUMP"]
    )
    found = space.range_of(lambda piece: True)
    if found is None:
        return None
    space.change(*found)
    return f"madvise({at(found[0])}, {size(found[1])}, {advice}) = 0"


def mremap_resize(space):
    found = space.one_piece()
    if found is None:
        return None
    start, pages = found
    grown = space.rng.choice([1, 2, 4, 5, 8, 16])
    free = all(p not in space.pages for p in range(start + pages, start + pages + grown))
    if free and not space.pages[start].file and start + pages + grown <= space.reach:
        space.put(start + pages, grown, space.pages[start])
        return f"mremap({at(start)}, {size(pages)}, {size(pages + grown)}, 0)"
    if pages == 1:
        return None
    left = space.rng.randrange(1, pages)
    space.remove(start + left, pages - left)
    return f"mremap({at(start)}, {size(pages)}, {size(left)}, 0)"


def mremap_move(space):
    found = space.one_piece()
    if found is None:
        return None
    start, pages = found
    target = space.rng.randrange(space.reach - pages)
    if abs(target - start) < pages:
        return None
    old = space.pages[start]
    moved = Piece(old.access, old.file, old.locked)
    space.remove(target, pages)
    space.remove(start, pages)
    space.put(target, pages, moved)
    return f"mremap({at(start)}, {size(pages)}, {size(pages)}, MREMAP_MAYMOVE|MREMAP_FIXED, {at(target)})"


def lock(space, name, locks):
    found = space.range_of(lambda piece: "r" in piece.access)
    if found is None:
        return None
    space.change(*found, locked=locks)
    return f"{name}({at(found[0])}, {size(found[1])}) = 0"


def mincore(space):
    found = space.range_of(lambda piece: True)
    return found and f"mincore({at(found[0])}, {size(found[1])}, v) = 0"


KINDS = [
    (14, lambda space: access(space, "store", "rw")),
    (8, lambda space: access(space, "load", "r")),
    (5, lambda space: access(space, "atomic", "rw")),
    (15, mprotect),
    (10, munmap),
    (8, mmap),
    (5, mmap_file),
    (12, madvise_pages),
    (8, madvise_flags),
    (5, mremap_resize),
    (4, mremap_move),
    (3, lambda space: lock(space, "mlock", True)),
    (2, lambda space: lock(space, "munlock", False)),
    (4, mincore),
]


def program(seed):
    rng = random.Random(seed)
    space = Space(rng)
    lines = [f"mmap(a, {size(space.first)}, rw, anon|MAP_FIXED, -1, 0)", f"madvise(a, {size(space.first)}, MADV_NOHUGEPAGE) = 0"]
    lines.append(f"store(a, {size(rng.randrange(5, space.first))})")
    while len(lines) < OPERATIONS + 2:
        [(_, kind)] = rng.choices(KINDS, [weight for weight, _ in KINDS])
        if line := kind(space):
            lines.append(line)
    body = "".join(f"    {line}\n" for line in lines)
    return f"""\
# Random operations, seed {seed}.
{WARM_UP}
let rw = PROT_READ|PROT_WRITE
let anon = MAP_PRIVATE|MAP_ANONYMOUS|MAP_NORESERVE
let places = {rng.choice([24, 30, 36])}
let stride = {2 * space.reach + rng.randrange(3, 90, 2)} * PAGE
space = mmap(NULL, places * stride, PROT_NONE, anon, -1, 0)
munmap(space, places * stride) = 0
v = mmap(NULL, PAGE, rw, anon, -1, 0)
store(v)
f = memfd_create("f", 0)
ftruncate(f, {FILE_PAGES} * PAGE) = 0
for i in 0..places {{
    let a = space + i * stride
{body}}}
"""


if __name__ == "__main__":
    if len(sys.argv) != 2 or not sys.argv[1].isdigit():
        sys.exit(__doc__)
    print(program(int(sys.argv[1])), end="")
