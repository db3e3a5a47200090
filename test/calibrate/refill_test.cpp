// What a row spent on the kernel's stocks of free memory is found by its paths of calls.
#include "calibrate/refill.h"

#include <gtest/gtest.h>

namespace faultline::calibrate {
namespace {

run::Row row(std::vector<run::CallPath> paths, std::size_t samples) {
  run::Row row;
  row.samples.assign(samples, 1000);
  row.paths = std::move(paths);
  return row;
}

constexpr std::uint32_t kRoot = run::CallPath::kNoParent;

TEST(Restocking, CountsAFunctionThatRefillsWithAllThatItCalls) {
  // entry → fault → rmqueue_bulk → list_add, and entry → copy
  const run::Row one = row({{kRoot, "entry", 100, 4},
                            {0, "fault", 200, 4},
                            {1, "rmqueue_bulk", 30, 1},
                            {2, "list_add", 10, 1},
                            {0, "copy", 500, 4}},
                           4);
  EXPECT_DOUBLE_EQ(Refills({}).of(one), 10);
}

TEST(Restocking, KnowsPartsThatACompilerSplitOff) {
  EXPECT_DOUBLE_EQ(
      Refills({}).of(row({{kRoot, "___slab_alloc.constprop.0", 80, 1}, {kRoot, "rmqueue_bulk.isra.0", 20, 1}}, 10)),
      10);
}

// arm64 draws a random number for each system call, from a block of them; getppid of 6.12 takes 368 instructions with
// it, and 2,780 more at every 32nd call or so.
TEST(Restocking, CountsRandomNumbersThatAreMadeAhead) {
  EXPECT_DOUBLE_EQ(Refills({}).of(row({{kRoot, "get_random_u16", 51, 32},
                                       {0, "_get_random_bytes", 66, 1},
                                       {1, "chacha_block_generic", 352, 2},
                                       {2, "chacha_permute", 2028, 2}},
                                      32)),
                   (66 + 352 + 2028) / 32.0);
}

// arm64 of 5.10: taking a page is 100 instructions, and one call in ten goes on to fill the list.
TEST(Restocking, IsWhatTakingAPageCostsBeyondTheLeastWhereTheRefillIsAPartOfIt) {
  const run::Row full = row({{kRoot, "get_page_from_freelist", 1000, 10}, {0, "prep_new_page", 300, 10}}, 10);
  const run::Row filled = row(
      {{kRoot, "get_page_from_freelist", 1200, 10}, {0, "prep_new_page", 3000, 10}, {0, "__list_add_valid", 600, 60}},
      10);
  const std::vector<run::Row> rows{full, filled, row({{kRoot, "entry", 10, 1}}, 1)};
  EXPECT_DOUBLE_EQ(Refills(rows).of(full), 0);
  EXPECT_DOUBLE_EQ(Refills(rows).of(filled), (1800 - 1000) / 10.0);
  const std::vector<run::Row> named{full, filled, row({{kRoot, "rmqueue_bulk", 80, 1}}, 1)};
  EXPECT_DOUBLE_EQ(Refills(named).of(filled), 0);
}

TEST(Restocking, IsNothingWhereNothingRefills) {
  EXPECT_DOUBLE_EQ(Refills({}).of(row({{kRoot, "rmqueue", 80, 1}, {kRoot, "slab_alloc", 80, 1}}, 10)), 0);
  EXPECT_DOUBLE_EQ(Refills({}).of(row({}, 10)), 0);
  EXPECT_DOUBLE_EQ(Refills({}).of(row({{kRoot, "rmqueue_bulk", 80, 1}}, 0)), 0);
}

}  // namespace
}  // namespace faultline::calibrate
