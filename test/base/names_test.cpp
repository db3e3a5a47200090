// The names of errors, signals and counters. What is right comes from the C library's own tables and from <csignal>.
#include <gtest/gtest.h>

#include <csignal>
#include <cstring>
#include <set>
#include <string>

#include "base/counters.h"
#include "base/errno.h"
#include "base/signal.h"

namespace faultline {
namespace {

constexpr int kLastErrno = 133;  // EHWPOISON, the highest that Linux returns to a program

TEST(Errno, IsNamedAsTheCLibraryNamesItAndFoundAgainByThatName) {
  int named = 0;
  for (int number = 1; number <= kLastErrno; ++number) {
    const char* const name = strerrorname_np(number);
    if (name == nullptr) continue;  // 41 and 58 are not used
    ++named;
    EXPECT_EQ(errno_name(Errno{number}), name);
    EXPECT_EQ(errno_named(name), Errno{number}) << name;
  }
  EXPECT_EQ(named, 131);
}

TEST(Errno, ThatTheCLibraryDoesNotKnowHasNoName) {
  for (const int number : {-1, 0, 41, 58, kLastErrno + 1, 4095}) EXPECT_EQ(errno_name(Errno{number}), "E?") << number;
  for (const char* name : {"", "E", "E?", "enomem", "ENOMEM ", "ENOSUCHERROR"}) EXPECT_FALSE(errno_named(name)) << name;
}

TEST(Errno, IsFoundByItsOtherSpellingsToo) {
  EXPECT_EQ(errno_named("EWOULDBLOCK"), Errno{EAGAIN});
  EXPECT_EQ(errno_named("ENOTSUP"), Errno{EOPNOTSUPP});
  EXPECT_EQ(errno_named("EDEADLOCK"), Errno{EDEADLK});
}

TEST(Signal, IsNamedAsTheCLibraryNamesItAndFoundAgainByThatName) {
  for (int number = 1; number <= 31; ++number) {
    const std::string name = std::string("SIG") + sigabbrev_np(number);
    EXPECT_EQ(signal_name(number), name);
    EXPECT_EQ(signal_named(name), number) << name;
  }
  for (const int number : {-1, 0, 32, 65}) EXPECT_EQ(signal_name(number), "SIG?") << number;
  for (const char* name : {"", "SIG", "SEGV", "SIG?", "sigsegv"}) EXPECT_FALSE(signal_named(name)) << name;
}

TEST(Signal, ConstantsAreThoseOfTheSystemHeaders) {
  EXPECT_EQ(kSigSegv, SIGSEGV);
  EXPECT_EQ(kSigBus, SIGBUS);
  EXPECT_EQ(kSegvMapErr, SEGV_MAPERR);
  EXPECT_EQ(kSegvAccErr, SEGV_ACCERR);
  EXPECT_EQ(kSegvPkuErr, SEGV_PKUERR);
  EXPECT_EQ(kBusAdrErr, BUS_ADRERR);
}

TEST(Signal, CodeIsNamedWithinItsSignalAndFoundAgain) {
  EXPECT_EQ(signal_code_name(SIGSEGV, SEGV_MAPERR), "SEGV_MAPERR");
  EXPECT_EQ(signal_code_name(SIGSEGV, SEGV_ACCERR), "SEGV_ACCERR");
  EXPECT_EQ(signal_code_name(SIGSEGV, SEGV_PKUERR), "SEGV_PKUERR");
  EXPECT_EQ(signal_code_name(SIGBUS, BUS_ADRERR), "BUS_ADRERR");
  EXPECT_EQ(signal_code_name(SIGFPE, 2), "code?");
  EXPECT_EQ(signal_code_named("SEGV_ACCERR"), SEGV_ACCERR);
  EXPECT_EQ(signal_code_named("BUS_ADRERR"), BUS_ADRERR);
  EXPECT_FALSE(signal_code_named("ACCERR"));
}

TEST(Signal, PrintsItsNameItsCodeAndItsAddress) {
  EXPECT_EQ(to_string(Signal{SIGSEGV, SEGV_ACCERR, Addr{0x7000}}), "SIGSEGV SEGV_ACCERR at 0x7000");
  EXPECT_EQ(to_string(Signal{SIGBUS, BUS_ADRERR, Addr{0xffff'ffff'ffff'ffff}}),
            "SIGBUS BUS_ADRERR at 0xffffffffffffffff");
}

TEST(Counter, HasANameAndATitleOfItsOwnAndIsFoundByItsName) {
  std::set<std::string_view> names;
  std::set<std::string_view> titles;
  for (std::size_t i = 0; i < kCounters; ++i) {
    const auto counter = static_cast<Counter>(i);
    EXPECT_TRUE(names.insert(counter_name(counter)).second) << counter_name(counter);
    EXPECT_TRUE(titles.insert(counter_title(counter)).second) << counter_title(counter);
    EXPECT_FALSE(counter_name(counter).empty());
    EXPECT_EQ(counter_named(counter_name(counter)), counter);
  }
  EXPECT_FALSE(counter_named(""));
  EXPECT_FALSE(counter_named("faults"));
}

// One from each end of the list and of each group: a line too many or too few shifts those after it.
TEST(Counter, NamesStandInTheOrderOfTheEnumeration) {
  EXPECT_EQ(counter_name(Counter::exceptions), "exceptions");
  EXPECT_EQ(counter_name(Counter::fault_reuse), "fault_reuse");
  EXPECT_EQ(counter_name(Counter::vma_visits), "vma_visits");
  EXPECT_EQ(counter_name(Counter::ptes_scanned), "ptes_scanned");
  EXPECT_EQ(counter_name(Counter::flushes_ranged), "flushes_ranged");
  EXPECT_EQ(counter_name(Counter::vma_lock), "vma_lock");
}

TEST(Counters, AddAndSubtractEachCounterByItself) {
  Counters a;
  Counters b;
  for (std::size_t i = 0; i < kCounters; ++i) {
    a.values[i] = 100 + i;
    b.values[i] = i * i;
  }
  Counters sum = a;
  sum += b;
  for (std::size_t i = 0; i < kCounters; ++i) EXPECT_EQ(sum[static_cast<Counter>(i)], 100 + i + i * i);
  EXPECT_EQ(sum - b, a);
  EXPECT_NE(sum, a);
}

}  // namespace
}  // namespace faultline
