// Which step changed a page last.
#include "report/page_history.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace faultline::report {
namespace {

PageChange step(std::uint64_t number) { return {number, nullptr, mm::Rule::none}; }
Range pages(std::uint64_t first, std::uint64_t count) { return Range::of(Addr{first * kPageSize}, count * kPageSize); }

TEST(PageHistory, KnowsNothingOfAPageThatNoStepChanged) {
  PageHistory history;
  EXPECT_FALSE(history.last_change(Addr{0}));
  history.record(pages(4, 2), step(1));
  EXPECT_FALSE(history.last_change(Addr{3 * kPageSize}));
  EXPECT_FALSE(history.last_change(Addr{6 * kPageSize}));
}

TEST(PageHistory, LeavesToAStepThePagesThatItHasChangedAlready) {
  PageHistory history;
  const PageChange upgraded{2, nullptr, mm::Rule::upgrade_exclusive};
  history.record(pages(0, 8), step(1));
  history.record(pages(3, 1), upgraded);
  history.record_unless_changed(pages(2, 4), step(2));
  EXPECT_EQ(history.last_change(pages(1, 1).start), step(1));
  EXPECT_EQ(history.last_change(pages(2, 1).start), step(2));
  EXPECT_EQ(history.last_change(pages(3, 1).start), upgraded);
  EXPECT_EQ(history.last_change(pages(5, 1).start), step(2));
  EXPECT_EQ(history.last_change(pages(6, 1).start), step(1));
}

TEST(PageHistory, AgreesWithAMapOfSinglePages) {
  std::mt19937_64 random(5);
  PageHistory history;
  std::map<std::uint64_t, PageChange> single;
  for (std::uint64_t number = 1; number <= 3000; ++number) {
    const std::uint64_t first = random() % 60;
    const std::uint64_t count = random() % 12;
    const PageChange change = step(number / 2);
    if (random() % 2 == 0) {
      history.record(pages(first, count), change);
      for (std::uint64_t page = first; page < first + count; ++page) single[page] = change;
    } else {
      history.record_unless_changed(pages(first, count), change);
      for (std::uint64_t page = first; page < first + count; ++page) {
        if (!single.contains(page) || single[page].step != change.step) single[page] = change;
      }
    }
    for (std::uint64_t page = 0; page < 72; ++page) {
      const auto expected = single.contains(page) ? std::optional(single[page]) : std::nullopt;
      ASSERT_EQ(history.last_change(Addr{page * kPageSize}), expected) << "page " << page << " after " << number;
    }
  }
}

}  // namespace
}  // namespace faultline::report
