// The names and numbers of the language: constants, system calls, numbers, near misses.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include <algorithm>
#include <set>

#include "base/errno.h"
#include "program/constants.h"
#include "program/error.h"
#include "program/nearest.h"
#include "program/number.h"
#include "program/syscall.h"
#include "program/utf8.h"

namespace faultline::program {
namespace {

TEST(Constants, AgreeWithTheSystemsHeaders) {
#define SAME(name) EXPECT_EQ(constant_named(#name), static_cast<std::uint64_t>(name)) << #name
  SAME(PROT_NONE);
  SAME(PROT_READ);
  SAME(PROT_WRITE);
  SAME(PROT_EXEC);
  SAME(PROT_GROWSDOWN);
  SAME(PROT_GROWSUP);
  SAME(MAP_FILE);
  SAME(MAP_SHARED);
  SAME(MAP_PRIVATE);
  SAME(MAP_SHARED_VALIDATE);
  SAME(MAP_FIXED);
  SAME(MAP_ANONYMOUS);
  SAME(MAP_ANON);
  SAME(MAP_GROWSDOWN);
  SAME(MAP_DENYWRITE);
  SAME(MAP_EXECUTABLE);
  SAME(MAP_LOCKED);
  SAME(MAP_NORESERVE);
  SAME(MAP_POPULATE);
  SAME(MAP_NONBLOCK);
  SAME(MAP_STACK);
  SAME(MAP_HUGETLB);
  SAME(MAP_SYNC);
  SAME(MAP_FIXED_NOREPLACE);
  SAME(MADV_NORMAL);
  SAME(MADV_RANDOM);
  SAME(MADV_SEQUENTIAL);
  SAME(MADV_WILLNEED);
  SAME(MADV_DONTNEED);
  SAME(MADV_FREE);
  SAME(MADV_REMOVE);
  SAME(MADV_DONTFORK);
  SAME(MADV_DOFORK);
  SAME(MADV_MERGEABLE);
  SAME(MADV_UNMERGEABLE);
  SAME(MADV_HUGEPAGE);
  SAME(MADV_NOHUGEPAGE);
  SAME(MADV_DONTDUMP);
  SAME(MADV_DODUMP);
  SAME(MADV_WIPEONFORK);
  SAME(MADV_KEEPONFORK);
  SAME(MADV_COLD);
  SAME(MADV_PAGEOUT);
  SAME(MADV_POPULATE_READ);
  SAME(MADV_POPULATE_WRITE);
  SAME(MADV_HWPOISON);
  SAME(MREMAP_MAYMOVE);
  SAME(MREMAP_FIXED);
  SAME(MREMAP_DONTUNMAP);
  SAME(MS_ASYNC);
  SAME(MS_INVALIDATE);
  SAME(MS_SYNC);
  SAME(MLOCK_ONFAULT);
  SAME(MCL_CURRENT);
  SAME(MCL_FUTURE);
  SAME(MCL_ONFAULT);
  SAME(MFD_CLOEXEC);
  SAME(MFD_ALLOW_SEALING);
  SAME(MFD_HUGETLB);
  SAME(O_RDONLY);
  SAME(O_WRONLY);
  SAME(O_RDWR);
  SAME(O_CREAT);
  SAME(O_EXCL);
  SAME(O_TRUNC);
  SAME(O_APPEND);
  SAME(O_NONBLOCK);
  SAME(O_SYNC);
  SAME(O_CLOEXEC);
  SAME(PKEY_DISABLE_ACCESS);
  SAME(PKEY_DISABLE_WRITE);
  SAME(UFFD_API);
  SAME(UFFD_USER_MODE_ONLY);
  SAME(UFFD_FEATURE_PAGEFAULT_FLAG_WP);
  SAME(UFFD_FEATURE_EVENT_FORK);
  SAME(UFFD_FEATURE_EVENT_REMAP);
  SAME(UFFD_FEATURE_EVENT_REMOVE);
  SAME(UFFD_FEATURE_MISSING_HUGETLBFS);
  SAME(UFFD_FEATURE_MISSING_SHMEM);
  SAME(UFFD_FEATURE_EVENT_UNMAP);
  SAME(UFFD_FEATURE_SIGBUS);
  SAME(UFFD_FEATURE_THREAD_ID);
  SAME(UFFD_FEATURE_MINOR_HUGETLBFS);
  SAME(UFFD_FEATURE_MINOR_SHMEM);
  SAME(UFFD_FEATURE_EXACT_ADDRESS);
  SAME(UFFD_FEATURE_WP_HUGETLBFS_SHMEM);
  SAME(UFFDIO_REGISTER_MODE_MISSING);
  SAME(UFFDIO_REGISTER_MODE_WP);
  SAME(UFFDIO_REGISTER_MODE_MINOR);
  SAME(UFFDIO_COPY_MODE_DONTWAKE);
  SAME(UFFDIO_COPY_MODE_WP);
  SAME(UFFDIO_ZEROPAGE_MODE_DONTWAKE);
  SAME(UFFDIO_WRITEPROTECT_MODE_WP);
  SAME(UFFDIO_WRITEPROTECT_MODE_DONTWAKE);
  SAME(UFFDIO_API);
  SAME(UFFDIO_REGISTER);
  SAME(UFFDIO_UNREGISTER);
  SAME(UFFDIO_WAKE);
  SAME(UFFDIO_COPY);
  SAME(UFFDIO_ZEROPAGE);
  SAME(UFFDIO_WRITEPROTECT);
#undef SAME
}

TEST(Constants, HoldWhatOlderHeadersLack) {
  EXPECT_EQ(constant_named("MADV_GUARD_INSTALL"), 102U);
  EXPECT_EQ(constant_named("MADV_GUARD_REMOVE"), 103U);
  EXPECT_EQ(constant_named("MADV_DONTNEED_LOCKED"), 24U);
  EXPECT_EQ(constant_named("MADV_COLLAPSE"), 25U);
  EXPECT_EQ(constant_named("PR_SET_MDWE"), 65U);
  EXPECT_EQ(constant_named("PR_MDWE_REFUSE_EXEC_GAIN"), 1U);
  EXPECT_EQ(constant_named("NULL"), 0U);
  EXPECT_EQ(constant_named("PAGE"), 4096U);
  EXPECT_EQ(constant_named("UNMAPPED"), 0xffffffffffffffffU);
}

TEST(Constants, HoldErrorNamesAsPositiveNumbers) {
  EXPECT_EQ(constant_named("ENOMEM"), 12U);
  EXPECT_EQ(constant_named("EPERM"), 1U);
  EXPECT_EQ(constant_named("EINVAL"), 22U);
  EXPECT_EQ(constant_named("EHWPOISON"), 133U);
  EXPECT_EQ(constant_named("E?"), std::nullopt);
  EXPECT_EQ(constant_named("PROT_REED"), std::nullopt);
}

TEST(Constants, EachNameStandsOnce) {
  std::set<std::string_view> names;
  for (const Constant& constant : constants()) {
    EXPECT_TRUE(names.insert(constant.name).second) << constant.name;
    EXPECT_EQ(constant_named(constant.name), constant.value);
  }
}

TEST(SystemCalls, AreNamedAndCounted) {
  EXPECT_EQ(sys_signatures().size(), static_cast<std::size_t>(Sys::count_));
  for (const SysSignature& signature : sys_signatures()) {
    EXPECT_EQ(sys_named(signature.name), signature.sys);
    EXPECT_EQ(sys_name(signature.sys), signature.name);
    EXPECT_LE(signature.least, signature.most);
    const auto commas = std::count(signature.parameters.begin(), signature.parameters.end(), ',');
    EXPECT_EQ(signature.parameters.empty() ? 0 : commas + 1, signature.most) << signature.name;
  }
  EXPECT_EQ(sys_named("mmap2"), std::nullopt);
  EXPECT_EQ(sys_named(""), std::nullopt);
}

TEST(Numbers, AreDecimalHexadecimalOrOctalWithSuffixes) {
  EXPECT_EQ(parse_number("0"), 0U);
  EXPECT_EQ(parse_number("4096"), 4096U);
  EXPECT_EQ(parse_number("0x1F"), 31U);
  EXPECT_EQ(parse_number("0Xff"), 255U);
  EXPECT_EQ(parse_number("0755"), 493U);
  EXPECT_EQ(parse_number("64K"), 65536U);
  EXPECT_EQ(parse_number("2M"), 2097152U);
  EXPECT_EQ(parse_number("1G"), 1073741824U);
  EXPECT_EQ(parse_number("1T"), 1099511627776U);
  EXPECT_EQ(parse_number("0x10K"), 16384U);
  EXPECT_EQ(parse_number("0K"), 0U);
  EXPECT_EQ(parse_number("18446744073709551615"), 0xffffffffffffffffU);
  EXPECT_EQ(parse_number("16777215T"), 0xffffff0000000000U);
  EXPECT_EQ(parse_number("0xffffffffffffffff"), 0xffffffffffffffffU);
}

TEST(Numbers, WhatIsNoneIsRefused) {
  for (const std::string_view text : {"", "K", "-1", "+1", "1k", "1KK", "1 K", "0x", "0xK", "08", "1.5", "abc", "1_000",
                                      "18446744073709551616", "18014398509481984K", "0x1ffffffffffffffff"}) {
    EXPECT_FALSE(parse_number(text)) << text;
  }
}

std::string suggestion(std::string_view misspelt, const std::vector<std::string_view>& candidates) {
  Nearest nearest(misspelt);
  for (const std::string_view candidate : candidates) nearest.offer(candidate);
  return nearest.suggestion(" nothing");
}

TEST(Nearest, OffersTheNamesThatTakeTheFewestChanges) {
  EXPECT_EQ(suggestion("mprotcet", {"mmap", "mprotect", "munmap"}), ": did you mean 'mprotect'?");
  EXPECT_EQ(suggestion("mlokc", {"mlock", "munlock", "mlock2"}), ": did you mean 'mlock'?");
  EXPECT_EQ(suggestion("ab", {"aa", "bb", "ab2", "cb"}), ": did you mean 'aa', 'bb' or 'ab2'?");
  EXPECT_EQ(suggestion("mlock3", {"mlock2", "mlock", "mlock2"}), ": did you mean 'mlock2' or 'mlock'?");
  EXPECT_EQ(suggestion("qqqq", {"mmap", "brk"}), " nothing");
  EXPECT_EQ(suggestion("", {"mmap"}), " nothing");
}

TEST(ErrorText, ShowsTheLineAndACaretBelowThePlace) {
  EXPECT_EQ(render({"dir/a.fl", {12, 5}, "expected a name", "let 5 = 1"}),
            "dir/a.fl:12:5: error: expected a name\n"
            " 12 | let 5 = 1\n"
            "    |     ^\n");
}

TEST(ErrorText, PlacesTheCaretByCharactersNotBytes) {
  EXPECT_EQ(render({"a.fl", {1, 5}, "m", "\té x"}), "a.fl:1:5: error: m\n 1 |  é x\n   |    ^\n");
  EXPECT_EQ(render({"a.fl", {1, 3}, "m", "ab"}), "a.fl:1:3: error: m\n 1 | ab\n   |   ^\n");
  EXPECT_EQ(render({"a.fl", {1, 1}, "m", ""}), "a.fl:1:1: error: m\n 1 | \n   | ^\n");
}

TEST(ErrorText, ShowsBytesThatAreNoTextAsQuestionMarks) {
  EXPECT_EQ(render({"a.fl",
                    {1, 1},
                    "m",
                    std::string("\x7f\x00\xff"
                                "a\x1b[2J",
                                8)}),
            "a.fl:1:1: error: m\n 1 | ???a?[2J\n   | ^\n");
}

TEST(ErrorText, CutsALongLineAroundThePlace) {
  const std::string line = std::string(500, 'a') + "X" + std::string(500, 'b');
  EXPECT_EQ(render({"a.fl", {1, 501}, "m", line}), "a.fl:1:501: error: m\n 1 | …" + std::string(100, 'a') + "X" +
                                                       std::string(99, 'b') + "…\n   | " + std::string(101, ' ') +
                                                       "^\n");
}

TEST(ErrorText, AnExcerptEndsBetweenCharacters) {
  EXPECT_EQ(excerpt("short"), "short");
  EXPECT_EQ(excerpt(std::string(40, 'a')), std::string(40, 'a'));
  EXPECT_EQ(excerpt(std::string(41, 'a')), std::string(40, 'a') + "…");
  EXPECT_EQ(excerpt(std::string(39, 'a') + "éb"), std::string(39, 'a') + "…");
}

TEST(ErrorText, TakesTheLineOfThePlaceFromTheText) {
  EXPECT_EQ(error_at("one\ntwo\r\nthree", "a.fl", {2, 1}, "m").source_line, "two");
  EXPECT_EQ(error_at("one\ntwo\r\nthree", "a.fl", {3, 1}, "m").source_line, "three");
  EXPECT_EQ(error_at("one\n", "a.fl", {2, 1}, "m").source_line, "");
}

}  // namespace
}  // namespace faultline::program
