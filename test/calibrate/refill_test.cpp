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
  EXPECT_DOUBLE_EQ(restocking(one), 10);
}

TEST(Restocking, KnowsPartsThatACompilerSplitOff) {
  EXPECT_DOUBLE_EQ(
      restocking(row({{kRoot, "___slab_alloc.constprop.0", 80, 1}, {kRoot, "rmqueue_bulk.isra.0", 20, 1}}, 10)), 10);
}

// arm64 draws a random number for each system call, from a block of them; getppid of 6.12 takes 368 instructions with
// it, and 2,780 more at every 32nd call or so.
TEST(Restocking, CountsRandomNumbersThatAreMadeAhead) {
  EXPECT_DOUBLE_EQ(restocking(row({{kRoot, "get_random_u16", 51, 32},
                                   {0, "_get_random_bytes", 66, 1},
                                   {1, "chacha_block_generic", 352, 2},
                                   {2, "chacha_permute", 2028, 2}},
                                  32)),
                   (66 + 352 + 2028) / 32.0);
}

TEST(Restocking, IsNothingWhereNothingRefills) {
  EXPECT_DOUBLE_EQ(restocking(row({{kRoot, "rmqueue", 80, 1}, {kRoot, "slab_alloc", 80, 1}}, 10)), 0);
  EXPECT_DOUBLE_EQ(restocking(row({}, 10)), 0);
  EXPECT_DOUBLE_EQ(restocking(row({{kRoot, "rmqueue_bulk", 80, 1}}, 0)), 0);
}

}  // namespace
}  // namespace faultline::calibrate
