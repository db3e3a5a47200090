// Logs of strace become programs: every call of memory management, its result as an assertion, at its recorded place.
#include "program/strace.h"

#include <gtest/gtest.h>

#include "program/equal.h"
#include "program/parser.h"
#include "program/printer.h"
#include "strace_harness.h"

namespace faultline::program {
namespace {

using test::imported;
using test::text_of;

std::string statements(std::string_view log) { return text_of(imported(log).processes.front()); }

/// All notes, a line each.
std::string notes(const StraceImport& import, std::size_t process = 0) {
  std::string text;
  for (const std::string& note : import.processes[process].notes) text += note + "\n";
  for (const std::string& note : import.notes) text += note + "\n";
  return text;
}
std::string notes(std::string_view log) { return notes(imported(log)); }

bool has_line(const std::string& text, std::string_view line) {
  return ("\n" + text).find("\n" + std::string(line) + "\n") != std::string::npos;
}

constexpr std::string_view kNoAccesses = "this log has no accesses: nothing is faulted in\n";

TEST(Strace, AMappingGoesWhereTheLogHasIt) {
  EXPECT_EQ(statements("mmap(NULL, 8192, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = 0x7f0df22f5000\n"
                       "mmap(0x1000000, 100, PROT_NONE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = 0x2000000\n"),
            "mmap(0x7f0df22f5000, 8192, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS|MAP_FIXED_NOREPLACE, -1, 0) = "
            "0x7f0df22f5000\n"
            "mmap(0x2000000, 100, PROT_NONE, MAP_PRIVATE|MAP_ANONYMOUS|MAP_FIXED_NOREPLACE, -1, 0) = 0x2000000\n");
}

TEST(Strace, AFixedMappingStaysAsItIs) {
  EXPECT_EQ(
      statements("mmap(0x7f00000000, 4096, PROT_READ, MAP_PRIVATE|MAP_FIXED|MAP_ANONYMOUS, -1, 0) = 0x7f00000000\n"),
      "mmap(0x7f00000000, 4096, PROT_READ, MAP_PRIVATE|MAP_FIXED|MAP_ANONYMOUS, -1, 0) = 0x7f00000000\n");
}

TEST(Strace, AMemfdIsAVariableAndItsMappingsAreItsOwnUntilItIsClosed) {
  const std::string log =
      "memfd_create(\"a, \\\"b\"..., MFD_CLOEXEC|MFD_ALLOW_SEALING) = 5</memfd:a (deleted)>\n"
      "ftruncate(4, 100) = 0\n"
      "ftruncate(5</memfd:a (deleted)>, 8192) = 0\n"
      "mmap(NULL, 4096, PROT_READ|PROT_WRITE, MAP_SHARED, 5, 0x1000) = 0x7f00000000\n"
      "memfd_create(\"c\", 0) = 6\n"
      "mmap(NULL, 4096, PROT_READ, MAP_SHARED_VALIDATE, 6, 0) = 0x7f00001000\n"
      "close(3) = 0\n"
      "close(5) = 0\n"
      "mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, 5, 0) = 0x7f00002000\n";
  EXPECT_EQ(
      statements(log),
      "memfd1 = memfd_create(\"log\", MFD_CLOEXEC|MFD_ALLOW_SEALING)\n"
      "ftruncate(memfd1, 8192) = 0\n"
      "mmap(0x7f00000000, 4096, PROT_READ|PROT_WRITE, MAP_SHARED|MAP_FIXED_NOREPLACE, memfd1, 4096) = 0x7f00000000\n"
      "memfd2 = memfd_create(\"log\", 0)\n"
      "mmap(0x7f00001000, 4096, PROT_READ, MAP_SHARED|MAP_FIXED_NOREPLACE, memfd2, 0) = 0x7f00001000\n"
      "close(memfd1) = 0\n"
      "mmap(0x7f00002000, 4096, PROT_READ, MAP_PRIVATE|MAP_ANONYMOUS|MAP_FIXED_NOREPLACE, -1, 0) = 0x7f00002000\n");
  EXPECT_TRUE(parse(print(imported(log).processes.front().program), "memfd.fl"));
}

TEST(Strace, AMemfdOfAChildIsNumberedWhereTheChildStands) {
  const std::string log =
      "10 mmap(NULL, 4096, PROT_READ, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = 0x7f00000000\n"
      "10 fork() = 11\n"
      "10 memfd_create(\"later in the text\", 0) = 3\n"
      "11 memfd_create(\"later in time\", 0) = 3\n"
      "11 ftruncate(3, 4096) = 0\n"
      "10 ftruncate(3, 8192) = 0\n";
  const Program program = std::move(imported(log).processes.front().program);
  const auto again = parse(print(program), "forked.fl");
  ASSERT_TRUE(again);
  EXPECT_TRUE(equal(program, *again)) << print(program);
}

TEST(Strace, OnlyTheMemoryOptionOfPrctlIsTaken) {
  EXPECT_EQ(statements("prctl(PR_SET_NAME, \"name\") = 0\n"
                       "prctl(PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN, 0, 0, 0) = 0\n"
                       "prctl(PR_SET_MDWE, 0, 0, 0, 0) = -1 EPERM (Operation not permitted)\n"),
            "prctl(PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN, 0, 0, 0) = 0\n"
            "prctl(PR_SET_MDWE, 0, 0, 0, 0) = -1 EPERM\n");
}

TEST(Strace, AStraceThatIsTooOldNamesCallsAndOptionsByNumber) {
  EXPECT_EQ(statements("prctl(0x41 /* PR_??? */, 0x3, 0, 0, 0) = 0\n"
                       "prctl(0x42 /* PR_??? */, 0, 0, 0, 0) = 3\n"
                       "prctl(0x43 /* PR_??? */, 0, 0, 0, 0) = 3\n"
                       "mmap(NULL, 8192, PROT_READ, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = 0x7f00000000\n"
                       "syscall_0x1ce(0x7f00000000, 0x1000, 0, 0xffffffff, 0, 0) = 0\n"
                       "syscall_0x1cf(0x7f00000000, 0x1000, 0, 0xffffffff, 0, 0) = 0\n"),
            "prctl(PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN|PR_MDWE_NO_INHERIT, 0, 0, 0) = 0\n"
            "prctl(PR_GET_MDWE, 0, 0, 0, 0) = 0x3\n"
            "mmap(0x7f00000000, 8192, PROT_READ, MAP_PRIVATE|MAP_ANONYMOUS|MAP_FIXED_NOREPLACE, -1, 0) = "
            "0x7f00000000\n"
            "mseal(0x7f00000000, 4096, 0) = 0\n");
}

TEST(Strace, RefusalsThatThePartsOfALogDecideAreKept) {
  const std::string log =
      "mmap(NULL, 8192, PROT_READ, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = 0x7f00000000\n"
      "mprotect(0x7f00000000, 4096, PROT_READ|PROT_EXEC) = -1 EACCES (Permission denied)\n"
      "prctl(PR_SET_MDWE, 0x7, 0, 0, 0) = -1 EINVAL (Invalid argument)\n"
      "prctl(PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN, 0, 0, 0) = -1 EINVAL (Invalid argument)\n"
      "prctl(PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN, 0, 0, 0) = 0\n"
      "mprotect(0x7f00000000, 4096, PROT_READ|PROT_EXEC) = -1 EACCES (Permission denied)\n"
      "mmap(0x7f00000000, 4096, PROT_NONE, MAP_PRIVATE|MAP_ANONYMOUS|MAP_FIXED, -1, 0) = -1 EPERM (Operation not "
      "permitted)\n"
      "mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE|MAP_ANONYMOUS|MAP_FIXED, -1, 0) = -1 EPERM (Operation not permitted)\n";
  EXPECT_EQ(statements(log),
            "mmap(0x7f00000000, 8192, PROT_READ, MAP_PRIVATE|MAP_ANONYMOUS|MAP_FIXED_NOREPLACE, -1, 0) = "
            "0x7f00000000\n"
            "prctl(PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN|PR_MDWE_NO_INHERIT|0x4, 0, 0, 0) = -1 EINVAL\n"
            "prctl(PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN, 0, 0, 0) = 0\n"
            "mprotect(0x7f00000000, 4096, PROT_READ|PROT_EXEC) = -1 EACCES\n"
            "mmap(0x7f00000000, 4096, PROT_NONE, MAP_PRIVATE|MAP_FIXED|MAP_ANONYMOUS, -1, 0) = -1 EPERM\n");
  EXPECT_TRUE(has_line(notes(log),
                       "3 calls were left out, as the log lacks what decides the result: mmap EPERM 1, "
                       "mprotect EACCES 1, prctl EINVAL 1"));
}

TEST(Strace, AMappingOnMemoryThatTheLogStillHasMappedReplacesItAndIsCounted) {
  const std::string map = "mmap(NULL, 4096, PROT_READ, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = 0x7f00000000\n";
  EXPECT_EQ(statements(map + map),
            "mmap(0x7f00000000, 4096, PROT_READ, MAP_PRIVATE|MAP_ANONYMOUS|MAP_FIXED_NOREPLACE, -1, 0) = 0x7f00000000\n"
            "mmap(0x7f00000000, 4096, PROT_READ, MAP_PRIVATE|MAP_FIXED|MAP_ANONYMOUS, -1, 0) = 0x7f00000000\n");
  EXPECT_TRUE(has_line(notes(map + map), "1 mapping lies on memory that the log still has mapped, and replaced it"));
}

TEST(Strace, FileMappingsBecomeAnonymousMemoryAndAreCounted) {
  const std::string log =
      "mmap(NULL, 47803, PROT_READ, MAP_PRIVATE|MAP_DENYWRITE, 3, 0) = 0x7f00000000\n"
      "mmap(0x7f00002000, 4096, PROT_READ|PROT_EXEC, MAP_PRIVATE|MAP_FIXED|MAP_DENYWRITE, 3</usr/lib/a, b(1).so>, "
      "0x7000) = 0x7f00002000\n"
      "mmap(NULL, 27028, PROT_READ, MAP_SHARED, 3</dev/zero<char 1:5>>, 0) = 0x7f10000000\n";
  EXPECT_EQ(
      statements(log),
      "mmap(0x7f00000000, 47803, PROT_READ, MAP_PRIVATE|MAP_ANONYMOUS|MAP_FIXED_NOREPLACE, -1, 0) = 0x7f00000000\n"
      "mmap(0x7f00002000, 4096, PROT_READ|PROT_EXEC, MAP_PRIVATE|MAP_FIXED|MAP_ANONYMOUS, -1, 0) = 0x7f00002000\n"
      "mmap(0x7f10000000, 27028, PROT_READ, MAP_PRIVATE|MAP_ANONYMOUS|MAP_FIXED_NOREPLACE, -1, 0) = "
      "0x7f10000000\n");
  EXPECT_EQ(notes(log),
            std::string(kNoAccesses) + "3 file mappings imported as private anonymous memory, 1 of them shared\n");
}

TEST(Strace, MemoryThatTheLogNeverMappedIsSetUpBeforeItsFirstUse) {
  const std::string log =
      "mmap(NULL, 4096, PROT_READ, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = 0x7f00001000\n"
      "mprotect(0x7f00000000, 12288, PROT_READ) = 0\n"
      "mprotect(0x7f00000000, 12288, PROT_NONE) = 0\n"
      "munmap(0x5000, 4096) = 0\n"
      "munmap(0x5000, 4096) = 0\n";
  EXPECT_EQ(statements(log),
            "mmap(0x7f00001000, 4096, PROT_READ, MAP_PRIVATE|MAP_ANONYMOUS|MAP_FIXED_NOREPLACE, -1, 0) = 0x7f00001000\n"
            "mmap(0x7f00000000, 4096, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS|MAP_FIXED_NOREPLACE, -1, 0)\n"
            "mmap(0x7f00002000, 4096, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS|MAP_FIXED_NOREPLACE, -1, 0)\n"
            "mprotect(0x7f00000000, 12288, PROT_READ) = 0\n"
            "mprotect(0x7f00000000, 12288, PROT_NONE) = 0\n"
            "mmap(0x5000, 4096, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS|MAP_FIXED_NOREPLACE, -1, 0)\n"
            "munmap(0x5000, 4096) = 0\n"
            "munmap(0x5000, 4096) = 0\n");
  EXPECT_TRUE(has_line(notes(log), "3 ranges that the log uses but never mapped set up first as anonymous memory"));
}

TEST(Strace, TheHeapIsMappedAndUnmappedWhereTheBreakMoves) {
  const std::string log =
      "brk(NULL) = 0x5588e5606000\n"
      "brk(0x5588e5627000) = 0x5588e5627000\n"
      "brk(0x5588e5627800) = 0x5588e5627800\n"
      "brk(0x5588e5627900) = 0x5588e5627900\n"
      "brk(0x5588e5607000) = 0x5588e5607000\n"
      "brk(0xffffffffffff) = 0x5588e5607000\n";
  EXPECT_EQ(
      statements(log),
      "mmap(0x5588e5606000, 135168, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS|MAP_FIXED_NOREPLACE, -1, 0) = "
      "0x5588e5606000\n"
      "mmap(0x5588e5627000, 4096, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS|MAP_FIXED_NOREPLACE, -1, 0) = "
      "0x5588e5627000\n"
      "munmap(0x5588e5607000, 135168) = 0\n");
  EXPECT_TRUE(has_line(notes(log), "5 brk calls imported as mmap and munmap of the heap at its recorded place"));
  EXPECT_TRUE(has_line(notes(log), "1 call was left out, as the log lacks what decides the result: brk that failed 1"));
}

TEST(Strace, ARemapGoesWhereTheLogHasIt) {
  EXPECT_EQ(statements("mmap(NULL, 8192, PROT_READ, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = 0x7f00000000\n"
                       "mremap(0x7f00000000, 8192, 1048576, MREMAP_MAYMOVE) = 0x7e00000000\n"
                       "mremap(0x7e00000000, 1048576, 4096, MREMAP_MAYMOVE) = 0x7e00000000\n"
                       "mmap(NULL, 8192, PROT_READ, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = 0x7f00000000\n"),
            "mmap(0x7f00000000, 8192, PROT_READ, MAP_PRIVATE|MAP_ANONYMOUS|MAP_FIXED_NOREPLACE, -1, 0) = 0x7f00000000\n"
            "mremap(0x7f00000000, 8192, 1048576, MREMAP_MAYMOVE|MREMAP_FIXED, 0x7e00000000) = 0x7e00000000\n"
            "mremap(0x7e00000000, 1048576, 4096, MREMAP_MAYMOVE) = 0x7e00000000\n"
            "mmap(0x7f00000000, 8192, PROT_READ, MAP_PRIVATE|MAP_ANONYMOUS|MAP_FIXED_NOREPLACE, -1, 0) = "
            "0x7f00000000\n");
}

TEST(Strace, EveryOtherCallOfMemoryManagementKeepsItsArguments) {
  const std::string map =
      "mmap(NULL, 65536, PROT_READ, MAP_PRIVATE|MAP_ANONYMOUS|MAP_NORESERVE|MAP_STACK, -1, 0) = 0x10000\n";
  const std::string first =
      "mmap(0x10000, 65536, PROT_READ, MAP_PRIVATE|MAP_ANONYMOUS|MAP_NORESERVE|MAP_STACK|MAP_FIXED_NOREPLACE, -1, 0) = "
      "0x10000\n";
  const std::string calls =
      "madvise(0x10000, 4096, MADV_DONTNEED) = 0\n"
      "madvise(0x10000, 4096, 102) = 0\n"
      "mlock(0x10000, 4096) = 0\n"
      "mlock2(0x10000, 4096, MLOCK_ONFAULT) = 0\n"
      "munlock(0x10000, 4096) = 0\n"
      "mlockall(MCL_CURRENT|MCL_FUTURE) = 0\n"
      "munlockall() = 0\n"
      "msync(0x10000, 4096, MS_SYNC) = 0\n"
      "mseal(0x10000, 4096, 0) = 0\n"
      "munmap(0x10000, 4096) = -1 EPERM\n"
      "mprotect(0x10001, 4096, PROT_READ) = -1 EINVAL\n";
  std::string expected = first + calls;
  expected.replace(expected.find(", 102)"), 6, ", MADV_GUARD_INSTALL)");
  EXPECT_EQ(statements(map + calls), expected);
}

TEST(Strace, RawNumbersAndCommentsAreReadLikeNames) {
  const std::string expected =
      "mmap(0x10000, 8192, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS|MAP_FIXED_NOREPLACE, -1, 0) = 0x10000\n";
  EXPECT_EQ(statements("mmap(NULL, 8192, 0x3, 0x22, -1, 0) = 0x10000\n"), expected);
  EXPECT_EQ(
      statements("mmap(NULL, 8192, 0x3 /* PROT_READ|PROT_WRITE */, 0x22 /* MAP_??? */, -1 /* none */, 0) /* x */ = "
                 "0x10000 <0.000012>\n"),
      expected);
}

TEST(Strace, PkeyMprotectBecomesMprotectAndAKeyIsCounted) {
  const std::string log =
      "pkey_mprotect(0x10000, 4096, PROT_READ, -1) = 0\npkey_mprotect(0x10000, 4096, PROT_NONE, 1) = 0\n";
  EXPECT_TRUE(has_line(statements(log), "mprotect(0x10000, 4096, PROT_READ) = 0"));
  EXPECT_TRUE(has_line(statements(log), "mprotect(0x10000, 4096, PROT_NONE) = 0"));
  EXPECT_TRUE(has_line(notes(log), "1 pkey_mprotect imported as mprotect, without the key"));
}

TEST(Strace, HugeAndGrowingMappingsBecomePlainOnesAndAreCounted) {
  const std::string log =
      "mmap(NULL, 4096, PROT_READ, MAP_PRIVATE|MAP_ANONYMOUS|MAP_HUGETLB|21<<MAP_HUGE_SHIFT, -1, 0) = 0x40000000\n"
      "mmap(NULL, 4096, PROT_READ, MAP_PRIVATE|MAP_ANONYMOUS|MAP_GROWSDOWN, -1, 0) = 0x30000000\n";
  EXPECT_EQ(statements(log),
            "mmap(0x40000000, 2097152, PROT_READ, MAP_PRIVATE|MAP_ANONYMOUS|MAP_FIXED_NOREPLACE, -1, 0) = 0x40000000\n"
            "mmap(0x30000000, 4096, PROT_READ, MAP_PRIVATE|MAP_ANONYMOUS|MAP_FIXED_NOREPLACE, -1, 0) = 0x30000000\n");
  EXPECT_TRUE(has_line(notes(log), "1 MAP_HUGETLB mapping imported with base pages"));
  EXPECT_TRUE(has_line(notes(log), "1 mapping imported without MAP_GROWSDOWN"));
}

TEST(Strace, AFailureIsKeptOnlyWhereTheLogHoldsItsReason) {
  const std::string kept =
      "mprotect(0x10000, 4096, PROT_READ) = -1 ENOMEM (Cannot allocate memory)\n"
      "munmap(0x10001, 4096) = -1 EINVAL (Invalid argument)\n"
      "mmap(NULL, 0, PROT_READ, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = -1 EINVAL (Invalid argument)\n";
  EXPECT_EQ(statements(kept),
            "mprotect(0x10000, 4096, PROT_READ) = -1 ENOMEM\nmunmap(0x10001, 4096) = -1 EINVAL\n"
            "mmap(NULL, 0, PROT_READ, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = -1 EINVAL\n");
  const std::string dropped =
      "mmap(NULL, 1099511627776, PROT_READ, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = -1 ENOMEM (Cannot allocate memory)\n"
      "mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, 3, 0) = -1 ENODEV (No such device)\n"
      "mlock(0x10000, 4096) = -1 EPERM (Operation not permitted)\n"
      "mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, 3, 0) = 0x20000\n"
      "madvise(0x20000, 4096, MADV_FREE) = -1 EINVAL (Invalid argument)\n";
  EXPECT_EQ(statements(dropped),
            "mmap(0x20000, 4096, PROT_READ, MAP_PRIVATE|MAP_ANONYMOUS|MAP_FIXED_NOREPLACE, -1, 0) = 0x20000\n");
  EXPECT_TRUE(has_line(notes(dropped),
                       "4 calls were left out, as the log lacks what decides the result: madvise of a file mapping 1, "
                       "mlock EPERM 1, mmap ENODEV 1, mmap ENOMEM 1"));
}

TEST(Strace, AFailedMappingOfHugePagesIsLeftOutAsItsPoolDecides) {
  for (const char* error : {"EINVAL (Invalid argument)", "ENOMEM (Cannot allocate memory)"}) {
    const std::string log =
        std::string("mmap(NULL, 150994944, PROT_READ, MAP_SHARED|MAP_ANONYMOUS|MAP_HUGETLB, -1, 0) = -1 ") + error +
        "\nmprotect(0x10000, 4096, PROT_READ) = -1 ENOMEM (Cannot allocate memory)\n";
    EXPECT_EQ(statements(log), "mprotect(0x10000, 4096, PROT_READ) = -1 ENOMEM\n") << error;
  }
}

TEST(Strace, AnExistingMappingThatTheLogDoesNotKnowIsSetUpForEexist) {
  EXPECT_EQ(
      statements("mmap(0x10000, 8192, PROT_READ, MAP_PRIVATE|MAP_ANONYMOUS|MAP_FIXED_NOREPLACE, -1, 0) = -1 EEXIST "
                 "(File exists)\n"),
      "mmap(0x10000, 4096, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS|MAP_FIXED_NOREPLACE, -1, 0)\n"
      "mmap(0x10000, 8192, PROT_READ, MAP_PRIVATE|MAP_ANONYMOUS|MAP_FIXED_NOREPLACE, -1, 0) = -1 EEXIST\n");
}

TEST(Strace, OtherCallsAreSkippedAndCountedByKind) {
  const std::string log =
      "openat(AT_FDCWD, \"/etc/ld.so.cache\", O_RDONLY|O_CLOEXEC) = 3\n"
      "read(3, \"(mmap(\\\"\"..., 832) = 832\nread(3, \"\", 832) = 0\nclose(3) = 0\n"
      "munmap(0x10000, 4096) = 0\n--- SIGCHLD {si_signo=SIGCHLD} ---\nexit_group(0) = ?\n+++ exited with 0 +++\n";
  EXPECT_EQ(notes(log), std::string(kNoAccesses) +
                            "1 range that the log uses but never mapped set up first as anonymous memory\n"
                            "4 calls of 3 kinds skipped: read 2, close 1, openat 1\n"
                            "1 signal passed over: SIGCHLD 1\n");
}

TEST(Strace, ALogWithoutACallOfMemoryManagementSaysSo) {
  const StraceImport import = imported("7157 getpid() = 7157\n");
  EXPECT_EQ(text_of(import.processes.front()), "");
  EXPECT_TRUE(has_line(notes(import), "this log has no call that changes memory"));
}

TEST(Strace, LinesOfTheTracedProgramAreCounted) {
  const StraceImport import = imported("munmap(0x10001, 4096) = -1 EINVAL\nhello\n1\n");
  EXPECT_TRUE(has_line(notes(import), "2 lines are none of strace's and passed over, the first is line 2"));
}

TEST(Strace, TimesDurationsAndNotesChangeNothing) {
  for (const std::string_view line :
       {"munmap(0x10001, 4096) = -1 EINVAL", "09:30:57 munmap(0x10001, 4096) = -1 EINVAL (Invalid argument)",
        "1796031471.439531 (+     0.000000) munmap(0x10001, 4096) = -1 EINVAL (Invalid argument) <0.000012>",
        "     0.000046 munmap(0x10001, 4096)      = -1 EINVAL (Invalid argument) (INJECTED)",
        "[pid 12] munmap(0x10001, 4096) = -1 EINVAL (Invalid argument)", "12  munmap(0x10001, 4096) = -1 EINVAL"}) {
    EXPECT_EQ(statements(line), "munmap(0x10001, 4096) = -1 EINVAL\n") << line;
  }
}

TEST(Strace, PositionsAreThoseOfTheLog) {
  const StraceImport import = imported("7157  getpid() = 7157\n7157  09:30:57 munmap(0x10001, 4096) = -1 EINVAL\n");
  const Block& body = import.processes.front().program.body;
  ASSERT_EQ(body.size(), 1U);
  EXPECT_EQ(body[0].position, (Position{2, 16}));
  EXPECT_EQ(body[0].text, "munmap(0x10001, 4096) = -1 EINVAL");
}

TEST(Strace, WhatIsImportedIsAProgramOfTheLanguage) {
  const StraceImport import = imported(
      "execve(\"/usr/bin/t\", [\"t\"], 0x7ffcd1b7fe40 /* 41 vars */) = 0\nbrk(NULL) = 0x1000000\n"
      "fork() = 5\n[pid 5] mmap(NULL, 4096, PROT_READ, MAP_PRIVATE|MAP_ANONYMOUS|0x40000000, -1, 0) = 0x10000\n"
      "[pid 5] madvise(0x10000, 18446744073709547520, 77) = -1 EINVAL\n");
  const Program& program = import.processes.front().program;
  const auto again = parse(print(program), "again.fl");
  ASSERT_TRUE(again) << render(again.error());
  EXPECT_TRUE(equal(program, *again)) << print(program);
  EXPECT_EQ(again->answers, "What strace recorded of /usr/bin/t");
}

struct Refusal {
  std::string_view log;
  Position position;
  std::string_view message;
};
class Refusals : public testing::TestWithParam<Refusal> {};

TEST_P(Refusals, NamesThePlaceAndWhatWasExpected) {
  const auto& [log, position, message] = GetParam();
  const auto import = import_strace(log, "bad.log");
  ASSERT_FALSE(import) << log;
  EXPECT_EQ(import.error().position, position) << render(import.error());
  EXPECT_NE(import.error().message.find(message), std::string::npos) << render(import.error());
  EXPECT_EQ(import.error().name, "bad.log");
}

INSTANTIATE_TEST_SUITE_P(
    Strace, Refusals,
    testing::Values(
        Refusal{"", {1, 1}, "no line here is of a strace log: expected one such as"},
        Refusal{"hello\nworld\n", {1, 1}, "no line here is of a strace log"},
        Refusal{"\xff\xfe\n", {1, 1}, "no line here is of a strace log"},
        Refusal{"munmap(0x1000) = 0\n", {1, 14}, "expected at least 2 arguments, found 1"},
        Refusal{"munmap(0x1000, 1, 2) = 0\n", {1, 18}, "expected ')' behind 2 arguments"},
        Refusal{"7157  munmap(0x1000, 4096 = 0\n", {1, 27}, "expected '|', ',' or ')' but found '= 0'"},
        Refusal{"munmap(0x1000, 4096)\n", {1, 21}, "expected '=' and the call's result but found the end of the line"},
        Refusal{"munmap(0x1000, 4096) = -1\n", {1, 26}, "expected an error name behind the -1, such as ENOMEM"},
        Refusal{"munmap(0x1000, 4096) = 0 x\n", {1, 26}, "expected the end of the line but found 'x'"},
        Refusal{"\nmprotect(0x1000, 4096, PROT_REED) = 0\n",
                {2, 24},
                "unknown constant 'PROT_REED': did you mean 'PROT_READ'"},
        Refusal{"mprotect(0x1000, 4096, ) = 0\n", {1, 24}, "expected a number or a constant such as PROT_READ"},
        Refusal{"mprotect(0x1000, 0x1ffffffffffffffff, 0) = 0\n", {1, 18}, "is too large"},
        Refusal{"mprotect(0x1000 /* x, 4096, 0) = 0\n", {1, 17}, "never closed: expected '*/'"},
        Refusal{"mmap(NULL, 1, 0, 2, 3</usr/lib, 0) = 0\n", {1, 22}, "never closed: expected '>'"},
        // The halves of a call in pieces keep their own places.
        Refusal{"5 munmap(0x1000, x <unfinished ...>\n6 getpid() = 6\n5 <... munmap resumed>) = 0\n",
                {1, 18},
                "unknown constant 'x'"},
        Refusal{"5 munmap(0x1000, 1 <unfinished ...>\n6 getpid() = 6\n5 <... munmap resumed>) = y\n",
                {3, 27},
                "unknown constant 'y'"}),
    [](const auto& test) { return "Case" + std::to_string(test.index); });

TEST(Strace, ALastLineThatWasCutOffIsNoError) {
  const StraceImport import = imported("munmap(0x10001, 4096) = -1 EINVAL\nmunmap(0x10001, 40");
  EXPECT_EQ(text_of(import.processes.front()), "munmap(0x10001, 4096) = -1 EINVAL\n");
  EXPECT_TRUE(has_line(notes(import), "1 call skipped, of which the log lacks the beginning or the result"));
}

}  // namespace
}  // namespace faultline::program
