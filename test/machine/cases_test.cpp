// Small cases that people reported, with the outcome that Linux 6.18 gives: each on its model and on this machine's
// kernel.

#include <sys/mman.h>
#include <sys/resource.h>

#include "harness.h"

namespace faultline::machine::test {
namespace {

/// Most kernels map the zero page on a read fault; one that forbids it (mm_forbids_zeropage, or a hypervisor's guest)
/// takes no second fault. Found without Faultline.
bool this_kernel_maps_the_zero_page() {
  constexpr long kPages = 256;
  const auto faults = [] {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_minflt;
  };
  void* mapped = mmap(nullptr, kPages * kPageSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  auto* bytes = static_cast<volatile char*>(mapped);
  for (long i = 0; i < kPages; ++i) static_cast<void>(bytes[i * static_cast<long>(kPageSize)]);
  const long before = faults();
  for (long i = 0; i < kPages; ++i) bytes[i * static_cast<long>(kPageSize)] = 1;
  const long taken = faults() - before;
  munmap(mapped, kPages * kPageSize);
  return taken >= kPages;
}

class Cases : public testing::TestWithParam<const char*> {
 protected:
  std::string run_case(std::string_view text, const Settings& settings = checked()) {
    return problems(run_on(GetParam(), text, settings));
  }
};

INSTANTIATE_TEST_SUITE_P(Machines, Cases, testing::Values("model:6.18", "live"),
                         [](const auto& machine) { return std::string(machine.param) == "live" ? "live" : "model"; });

TEST_P(Cases, AMiddlePageSplitsAMappingAndMergesBack) {
  EXPECT_EQ(run_case(R"(
a = mmap(NULL, 5 * PAGE, PROT_NONE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0)
let r = a + PAGE
mprotect(r, 3 * PAGE, PROT_READ) = 0
expect vmas(r, 3 * PAGE) == 1
mprotect(r + PAGE, PAGE, PROT_READ|PROT_WRITE) = 0
expect vmas(r, 3 * PAGE) == 3
mprotect(r + PAGE, PAGE, PROT_READ) = 0
expect vmas(r, 3 * PAGE) == 1
expect perm(r) == PROT_READ
b = mmap(NULL, 3 * PAGE, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0)
store(b, 3 * PAGE)
mprotect(b + PAGE, PAGE, PROT_READ) = 0
expect vmas(b, 3 * PAGE) == 3
mprotect(b + PAGE, PAGE, PROT_READ|PROT_WRITE) = 0
expect vmas(b, 3 * PAGE) == 1
)"),
            "");
}

TEST_P(Cases, TheMapLimitIsMetExactly) {
  EXPECT_EQ(run_case(R"(
param limit = 65530
a = mmap(NULL, 140000 * PAGE, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS|MAP_NORESERVE, -1, 0)
expect max_map_count() == limit
let start = vmas()
# Each call adds two areas; an odd number left means that the last one fails after its first split.
let calls = (limit - start) / 2
for i in 0..calls {
    mprotect(a + (2 * i + 1) * PAGE, PAGE, PROT_READ) = 0
}
expect vmas() == start + 2 * calls
let next = a + (2 * calls + 1) * PAGE
mprotect(next, PAGE, PROT_READ) = -1 ENOMEM
expect vmas() == limit
munmap(next + 10 * PAGE, PAGE) = -1 ENOMEM
munmap(a + PAGE, PAGE) = 0
expect vmas() == limit - 1
)",
                     Settings{}),  // a walk of the whole state after each of 32,000 calls would take minutes
            "");
}

TEST_P(Cases, HolesAndOddArgumentsHaveTheirErrnoAndTheirPartialEffect) {
  EXPECT_EQ(run_case(R"(
a = mmap(NULL, 4 * PAGE, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0)
store(a, 4 * PAGE, PAGE, 7)
munmap(a + PAGE, PAGE) = 0
mprotect(a, 4 * PAGE, PROT_READ) = -1 ENOMEM
expect perm(a) == PROT_READ
expect perm(a + PAGE) == UNMAPPED
expect perm(a + 2 * PAGE) == (PROT_READ|PROT_WRITE)
expect value(a) == 7
madvise(a, 4 * PAGE, MADV_DONTNEED) = -1 ENOMEM
expect resident(a, 4 * PAGE) == 0
expect value(a) == 0
expect value(a + 3 * PAGE) == 0
mseal(a, 4 * PAGE, 0) = -1 ENOMEM
munmap(a, 4 * PAGE) = 0
mprotect(a, PAGE, PROT_READ) = -1 ENOMEM
mprotect(a, 0, PROT_READ) = 0
mprotect(a + 1, PAGE, PROT_READ) = -1 EINVAL
munmap(a, PAGE) = 0
munmap(a, 0) = -1 EINVAL
)"),
            "");
}

TEST_P(Cases, ProtNoneFreesNothing) {
  EXPECT_EQ(run_case(R"(
let size = 1024 * PAGE
a = mmap(NULL, size, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0)
measure "first touch" {
    store(a, size, PAGE, 5)
}
expect faults("first touch") == 1024
expect resident(a, size) == 1024
mprotect(a, size, PROT_NONE) = 0
expect resident(a, size) == 1024
expect value(a + PAGE) == 5
mprotect(a, size, PROT_READ|PROT_WRITE) = 0
measure "again" {
    store(a, size, PAGE, 6)
}
expect faults("again") == 0
madvise(a, size, MADV_DONTNEED) = 0
expect resident(a, size) == 0
measure "after" {
    load(a, size)
}
expect faults("after") == 1024
expect value(a) == 0
)"),
            "");
}

TEST_P(Cases, GuardsFaultAsIfNothingWereMapped) {
  EXPECT_EQ(run_case(R"(
let stacks = 300
let stack = 81 * PAGE
a = mmap(NULL, stacks * stack, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0)
for i in 0..stacks {
    madvise(a + i * stack, PAGE, MADV_GUARD_INSTALL) = 0
}
expect vmas(a, stacks * stack) == 1
expect resident(a, stacks * stack) == 0
store(a, 1) = SIGSEGV SEGV_MAPERR
madvise(a, stack, MADV_DONTNEED) = 0
mprotect(a, stack, PROT_READ) = 0
mprotect(a, stack, PROT_READ|PROT_WRITE) = 0
store(a, 1) = SIGSEGV SEGV_MAPERR
madvise(a, PAGE, MADV_GUARD_REMOVE) = 0
load(a, 1) = 0
expect value(a) == 0
for i in 0..stacks {
    mprotect(a + i * stack, PAGE, PROT_NONE) = 0
}
expect vmas(a, stacks * stack) == 600
store(a, 1) = SIGSEGV SEGV_ACCERR
)"),
            "");
}

TEST_P(Cases, AReadFirstCostsASecondFaultForTheWrite) {
  if (std::string_view(GetParam()) == "live" && !this_kernel_maps_the_zero_page()) {
    GTEST_SKIP() << "this kernel is built or booted to map no shared zero page: a read maps a page of its own";
  }
  EXPECT_EQ(run_case(R"(
let size = 1024 * PAGE
a = mmap(NULL, size, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0)
measure "read" {
    load(a, size)
}
measure "write" {
    store(a, size)
}
b = mmap(NULL, size, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0)
measure "write first" {
    store(b, size)
}
measure "read after" {
    load(b, size)
}
expect faults("read") == 1024
expect faults("write") == 1024
expect faults("write first") == 1024
expect faults("read after") == 0
)"),
            "");
}

TEST_P(Cases, PopulatingCountsInRuMinfltAndTakesNoException) {
  EXPECT_EQ(run_case(R"(
let size = 1024 * PAGE
a = mmap(NULL, size, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0)
measure "populate" {
    madvise(a, size, MADV_POPULATE_WRITE) = 0
}
measure "touch" {
    store(a, size)
}
measure "map populated" {
    b = mmap(NULL, size, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS|MAP_POPULATE, -1, 0)
}
expect minflt("populate") == 1024
expect faults("populate") == 0
expect faults("touch") == 0
expect minflt("map populated") == 1024
expect faults("map populated") == 0
)"),
            "");
}

TEST_P(Cases, SealedMemoryRefusesWhatWouldChangeIt) {
  EXPECT_EQ(run_case(R"(
a = mmap(NULL, 4 * PAGE, PROT_READ, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0)
mseal(a, PAGE, 1) = -1 EINVAL
mseal(a + 1, PAGE, 0) = -1 EINVAL
mseal(a + 2 * PAGE, PAGE, 0) = 0
mprotect(a, 4 * PAGE, PROT_READ|PROT_WRITE) = -1 EPERM
expect perm(a) == (PROT_READ|PROT_WRITE)
expect perm(a + 2 * PAGE) == PROT_READ
munmap(a + PAGE, 2 * PAGE) = -1 EPERM
madvise(a + 2 * PAGE, PAGE, MADV_DONTNEED) = -1 EPERM
mseal(a + 2 * PAGE, PAGE, 0) = 0
)"),
            "");
}

TEST_P(Cases, TheProtectionCycleTakesNoFaultSinceSixTwo) {
  EXPECT_EQ(run_case(R"(
let size = 32 * PAGE
a = mmap(NULL, size, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0)
store(a, size)
measure "cycle" repeat 1000 {
    mprotect(a, size, PROT_NONE) = 0
    mprotect(a, size, PROT_READ|PROT_WRITE) = 0
    store(a, size)
}
expect vmas(a, size) == 1
expect faults("cycle") == 0
expect minflt("cycle") == 0
)"),
            "");
}

TEST_P(Cases, AForkMakesEveryPageOfBothSidesFaultOnce) {
  EXPECT_EQ(run_case(R"(
let size = 16 * PAGE
a = mmap(NULL, size, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0)
store(a, size, PAGE, 3)
child "sharer" {
    expect value(a) == 3
    measure "child writes" {
        store(a, size, PAGE, 4)
    }
    expect value(a) == 4
    expect faults("child writes") == 16
}
expect value(a) == 3
measure "parent writes" {
    store(a, size, PAGE, 5)
}
expect faults("parent writes") == 16
exit("sharer")
child {
    expect value(a + PAGE) == 5
}
)"),
            "");
}

TEST_P(Cases, CodeRunsFromAPageThatHoldsIt) {
  EXPECT_EQ(run_case(R"(
text = mmap(NULL, PAGE, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0)
a = mmap(NULL, 8 * PAGE, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0)
code(text)
fetch(text) = SIGSEGV SEGV_ACCERR
mprotect(text, PAGE, PROT_READ|PROT_EXEC) = 0
fetch(text) = 0
measure "atomic" {
    atomic(a, 8 * PAGE, PAGE, 2) at text
}
expect value(a + 7 * PAGE) == 2
expect faults("atomic") == 8 on live, model:6.18
store(a, 8 * PAGE, PAGE, 9) at text
load(a, 8 * PAGE) at text
expect value(a) == 9
fetch(a) = SIGSEGV SEGV_ACCERR
)"),
            "");
}

}  // namespace
}  // namespace faultline::machine::test
