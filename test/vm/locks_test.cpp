// Which locks of a process's memory a kernel takes, call by call, and which the model says (docs/locks.md). The plugin
// tells how often each function was called on each path. Skipped where QEMU or the kernel is missing.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>

#include "needs_kernel.h"
#include "side_by_side.h"

namespace faultline::machine {
namespace {

/// One operation a line, each of one page, as a call that tries one lock and takes another shows both.
constexpr std::string_view kProgram = R"(
let size = 8 * PAGE
let rw = PROT_READ|PROT_WRITE
let anon = MAP_PRIVATE|MAP_ANONYMOUS
a = mmap(NULL, size, rw, anon, -1, 0)
load(a)
store(a)
store(a + PAGE)
load(a + 2 * PAGE)
store(a + 2 * PAGE)
mprotect(a, PAGE, PROT_READ)
mprotect(a, PAGE, PROT_READ)
mprotect(a - size, PAGE, PROT_READ)
madvise(a + PAGE, PAGE, MADV_DONTNEED)
madvise(a, 2 * PAGE, MADV_DONTNEED)
store(a + PAGE)
madvise(a + PAGE, PAGE, MADV_FREE)
madvise(a, 2 * PAGE, MADV_FREE)
madvise(a + PAGE, PAGE, MADV_DONTFORK)
madvise(a + PAGE, PAGE, MADV_HUGEPAGE)
madvise(a, PAGE, MADV_WILLNEED)
madvise(a + 3 * PAGE, PAGE, MADV_POPULATE_READ)
madvise(a + 3 * PAGE, PAGE, MADV_POPULATE_WRITE)
madvise(a + 4 * PAGE, PAGE, MADV_GUARD_INSTALL)
madvise(a + 4 * PAGE, PAGE, MADV_GUARD_REMOVE)
madvise(a + 3 * PAGE, PAGE, MADV_COLD)
mincore(a, PAGE, a + 3 * PAGE)
msync(a, size, MS_ASYNC)
mlock(a + 3 * PAGE, PAGE)
munlock(a + 3 * PAGE, PAGE)
mlock2(a + 3 * PAGE, PAGE, MLOCK_ONFAULT)
munlock(a, size)
b = mmap(NULL, size, rw, anon|MAP_POPULATE, -1, 0)
c = mmap(b, PAGE, PROT_READ, anon|MAP_FIXED, -1, 0)
d = mremap(b + 2 * PAGE, PAGE, 2 * PAGE, MREMAP_MAYMOVE)
e = mremap(b + 4 * PAGE, 2 * PAGE, PAGE, 0)
f = mremap(b + 6 * PAGE, PAGE, 2 * PAGE, 0)
top = brk(0)
brk(top + PAGE)
brk(top)
mseal(c, PAGE)
mprotect(c, PAGE, PROT_NONE)
madvise(c, PAGE, MADV_DONTNEED)
s = mmap(NULL, size, rw, MAP_SHARED|MAP_ANONYMOUS, -1, 0)
store(s)
load(s + PAGE)
madvise(s, PAGE, MADV_DONTNEED)
load(s)
munmap(s, size)
k = pkey_alloc(0, 0)
pkey_mprotect(a + 4 * PAGE, PAGE, rw, 0)
pkey_free(k)
munmap(a, PAGE)
munmap(a, PAGE)
munmap(a + PAGE, 2 * PAGE)
load(a) = SIGSEGV SEGV_MAPERR
h = mmap(a - 4096 * PAGE, size, PROT_READ, anon|MAP_FIXED, -1, 0)
store(h) = SIGSEGV SEGV_ACCERR
madvise(h - PAGE, 2 * PAGE, MADV_DONTNEED)
madvise(h - PAGE, 2 * PAGE, MADV_POPULATE_READ)
g = mmap(h - 4096 * PAGE, PAGE, rw, anon|MAP_FIXED|MAP_GROWSDOWN, -1, 0)
store(g - PAGE)
load(g - 3 * PAGE)
l = mmap(g - 300 * PAGE, PAGE, PROT_NONE, anon|MAP_FIXED, -1, 0)
munmap(l, PAGE)
mlockall(MCL_FUTURE)
q = mmap(h + 64 * PAGE, PAGE, rw, anon|MAP_FIXED, -1, 0)
munlockall()
m = mmap(h + 128 * PAGE, PAGE, rw, anon|MAP_FIXED, -1, 0)
mremap(m, PAGE, PAGE, MREMAP_MAYMOVE|MREMAP_FIXED, h + 192 * PAGE)
fd = memfd_create("file")
ftruncate(fd, size)
t = mmap(h + 256 * PAGE, size, rw, MAP_SHARED|MAP_FIXED, fd, 0)
store(t)
load(t + PAGE)
p = mmap(h + 320 * PAGE, size, rw, MAP_PRIVATE|MAP_FIXED, fd, 0)
load(p)
store(p)
store(p + 2 * PAGE)
store(p + 2 * PAGE)
lseek(fd, 0, SEEK_SET)
write(fd, h + PAGE, 100)
write(fd, h + PAGE, 100)
read(fd, q, 100)
madvise(t, PAGE, MADV_REMOVE)
madvise(t, PAGE, MADV_DONTNEED)
msync(t, PAGE, MS_SYNC)
ftruncate(fd, PAGE)
load(t + 4 * PAGE) = SIGBUS
munmap(t, size)
clear_refs(1)
u = userfaultfd(O_CLOEXEC|UFFD_USER_MODE_ONLY)
ioctl(u, UFFDIO_API, {api=UFFD_API, features=UFFD_FEATURE_SIGBUS})
v = mmap(h + 384 * PAGE, 4 * PAGE, rw, anon|MAP_FIXED, -1, 0)
ioctl(u, UFFDIO_REGISTER, {range={start=v, len=4*PAGE}, mode=UFFDIO_REGISTER_MODE_MISSING})
ioctl(u, UFFDIO_ZEROPAGE, {range={start=v, len=PAGE}, mode=0})
ioctl(u, UFFDIO_COPY, {dst=v + PAGE, src=q, len=PAGE, mode=0})
ioctl(u, UFFDIO_UNREGISTER, {start=v, len=4*PAGE})
close(u)
)";

/// Per execution of an operation.
struct Locks {
  std::uint64_t read = 0;
  std::uint64_t write = 0;
  std::uint64_t downgraded = 0;
  std::uint64_t vma = 0;
  bool operator==(const Locks&) const = default;
};

void PrintTo(const Locks& locks, std::ostream* out) {
  *out << fmt::format("mmap_lock {} read, {} written, {} downgraded; {} of a VMA", locks.read, locks.write,
                      locks.downgraded, locks.vma);
}

Locks of_model(const run::Row& row) {
  const auto each = [&](Counter counter) { return row.counted[counter] / row.counted_calls; };
  return {each(Counter::mmap_lock_read), each(Counter::mmap_lock_write), each(Counter::mmap_lock_downgrade),
          each(Counter::vma_lock)};
}

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::ranges::find(names, name) != names.end();
}

/// The same functions take other semaphores: those of files, of a userfaultfd and, up to 6.14, of VMAs.
bool reads_other(std::string_view caller, const run::Row& row) {
  // A userfaultfd has a lock of its own since it takes that of a VMA.
  const bool locks_vma = std::ranges::find(row.paths, "uffd_lock_vma", &run::CallPath::function) != row.paths.end();
  return caller == "lock_vma_under_rcu" || caller.starts_with("unmap_mapping") ||
         (caller.starts_with("mfill_") && locks_vma);
}
/// For writing, mmap_lock is nearly always taken so that a signal may end the wait.
bool writes_mmap_lock(std::string_view function, std::string_view caller) {
  if (function == "down_write_killable") return caller != "do_truncate";
  return function == "down_write" &&
         is_one_of(caller,
                   {"__do_sys_pkey_alloc", "__x64_sys_pkey_alloc", "__arm64_sys_pkey_alloc", "__do_sys_pkey_free",
                    "__x64_sys_pkey_free", "__arm64_sys_pkey_free", "userfaultfd_register", "userfaultfd_unregister",
                    "userfaultfd_ioctl", "userfaultfd_release", "userfaultfd_release_all"});
}

Locks of_kernel(const run::Row& row) {
  Locks locks;
  for (const run::CallPath& path : row.paths) {
    const std::string_view caller =
        path.parent == run::CallPath::kNoParent ? "" : std::string_view(row.paths[path.parent].function);
    const bool reads = is_one_of(path.function, {"down_read", "down_read_killable", "down_read_trylock"});
    if (reads && caller == "uffd_lock_vma") {
      ++locks.read;  // the second is the VMA's
    } else if (reads && !reads_other(caller, row)) {
      locks.read += path.calls;
    }
    if (writes_mmap_lock(path.function, caller)) locks.write += path.calls;
    if (path.function == "downgrade_write") locks.downgraded += path.calls;
    if (path.function == "lock_vma_under_rcu") locks.vma += path.calls;
  }
  // The lock of a VMA that turns out not to be enough is given back.
  locks.vma -= std::min(locks.vma, locks.read);
  const std::uint64_t samples = std::max<std::uint64_t>(row.samples.size(), 1);
  return {locks.read / samples, locks.write / samples, locks.downgraded / samples, locks.vma / samples};
}

class LocksOf : public testing::TestWithParam<std::string> {};

TEST_P(LocksOf, EveryCallAndFaultAreThoseOfTheKernel) {
  const std::string& kernel = GetParam();
  NEEDS(kernel);
  expect_of_each_row(kernel, kProgram, [](const run::Row& model, const run::Row& row) {
    EXPECT_EQ(of_model(model), of_kernel(row)) << fmt::format("line {}: {}", model.line, model.text);
  });
}

INSTANTIATE_TEST_SUITE_P(Kernels, LocksOf, testing::Values("5.10", "6.1", "6.12", "7.3", "arm64/6.12"),
                         [](const auto& test) { return test_name(test.param); });

}  // namespace
}  // namespace faultline::machine
