// How often a kernel calls the functions that some counters stand for, operation by operation, and what the model
// counts. Skipped where QEMU or the kernel is missing.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string_view>

#include "needs_kernel.h"
#include "side_by_side.h"

namespace faultline::machine {
namespace {

constexpr std::string_view kProgram = R"(
let n = 5
let rw = PROT_READ|PROT_WRITE
let anon = MAP_PRIVATE|MAP_ANONYMOUS
a = mmap(NULL, n * PAGE, rw, anon, -1, 0)
madvise(a, n * PAGE, MADV_NOHUGEPAGE)
other = mmap(NULL, PAGE, rw, MAP_SHARED|MAP_ANONYMOUS, -1, 0)
madvise(other, PAGE, MADV_DONTNEED)
# New pages wait on a batch.
store(a, n * PAGE)
mprotect(a, n * PAGE, PROT_READ)
mprotect(a, n * PAGE, rw)
store(a, n * PAGE)
# So do the copies; whoever unmaps empties the batch.
mprotect(a, n * PAGE, PROT_READ)
madvise(other, PAGE, MADV_DONTNEED)
mprotect(a, n * PAGE, rw)
store(a, n * PAGE)
# Shared with a child that ends, whose memory is unmapped.
child "c" { load(a, n * PAGE) }
exit("c")
store(a, n * PAGE)
# Shared with one that lives.
child "d" { load(a, n * PAGE) }
store(a, n * PAGE)
store(a, n * PAGE)
exit("d")
# Locked, and protected while the last page waits for its list.
mlock(a, n * PAGE)
munlock(a, n * PAGE)
mprotect(a, n * PAGE, PROT_READ)
mprotect(a, n * PAGE, rw)
store(a, n * PAGE)
# Executed, a part of it twice.
mprotect(a, n * PAGE, PROT_READ|PROT_EXEC)
mprotect(a, 2 * PAGE, rw)
store(a, 2 * PAGE)
mprotect(a, 2 * PAGE, PROT_READ|PROT_EXEC)
# Of a file: new and known, asked for one by one and mapped around another, populated and copied.
s = mmap(NULL, 8 * PAGE, rw, MAP_SHARED|MAP_ANONYMOUS, -1, 0)
store(s, 3 * PAGE)
load(s, 5 * PAGE)
madvise(s, 8 * PAGE, MADV_DONTNEED)
load(s, 6 * PAGE)
store(s, 6 * PAGE)
mlock(s, 8 * PAGE)
f = memfd_create("f", 0)
ftruncate(f, 4 * PAGE)
p = mmap(NULL, 4 * PAGE, rw, MAP_PRIVATE, f, 0)
load(p, PAGE)
store(p, PAGE)
# New in locked memory, more than a batch; unmapped, which leaves them on one.
l = mmap(NULL, 40 * PAGE, rw, anon, -1, 0)
madvise(l, 40 * PAGE, MADV_NOHUGEPAGE)
mlock2(l, 40 * PAGE, MLOCK_ONFAULT)
store(l, 35 * PAGE)
load(l + 35 * PAGE, 5 * PAGE)
munmap(l, 20 * PAGE)
munlock(l + 20 * PAGE, 2 * PAGE)
munmap(l + 20 * PAGE, 20 * PAGE)
# Moved, whole and in part.
b = mremap(a, n * PAGE, n * PAGE, MREMAP_MAYMOVE|MREMAP_FIXED, a - 64 * PAGE)
mremap(b + PAGE, PAGE, PAGE, MREMAP_MAYMOVE|MREMAP_FIXED, a)
mremap(b + 2 * PAGE, PAGE, 3 * PAGE, MREMAP_MAYMOVE)
mremap(b, PAGE, PAGE, 0)
)";

struct Counted {
  Counter counter;
  std::string_view function;
  std::string_view also;  // its name elsewhere
};

const Counted kCounted[] = {
    {Counter::fault_copy, "ptep_clear_flush", {}},  // of what is copied: wp_page_copy() itself is inlined by some
    {Counter::pages_synced, "sync_icache_aliases", {}},
    {Counter::vmas_moved, "copy_vma", {}},
    {Counter::pages_cached, "shmem_add_to_page_cache", {}},
    {Counter::pages_asked, "__do_fault", {}},
    {Counter::mlock_batches, "mlock_folio_batch", "mlock_pagevec"},
};

std::uint64_t calls(const run::Row& row, const Counted& counted) {
  std::uint64_t sum = 0;
  for (const run::CallPath& path : row.paths) {
    if (path.function == counted.function || path.function == counted.also) sum += path.calls;
  }
  return sum;
}

class FunctionsOf : public testing::TestWithParam<std::string> {};

TEST_P(FunctionsOf, AreCalledAsOftenAsTheModelCounts) {
  const std::string& kernel = GetParam();
  NEEDS(kernel);
  expect_of_each_row(kernel, kProgram, [](const run::Row& model, const run::Row& row) {
    for (const Counted& counted : kCounted) {
      EXPECT_EQ(model.counted[counted.counter], calls(row, counted))
          << fmt::format("line {}: {}: {}", model.line, model.text, counter_name(counted.counter));
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Kernels, FunctionsOf,
                         testing::Values("5.10", "6.1", "6.12", "7.3", "arm64/5.10", "arm64/6.12"),
                         [](const auto& test) { return test_name(test.param); });

}  // namespace
}  // namespace faultline::machine
