// The shape of the kernel's tree of VMAs up to 6.0: ordered, balanced by the rules of red-black trees, each gap known,
// and what a search of it passes.
#include "mm/rb_tree.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>

namespace faultline::mm {
namespace {

Range pages(std::uint64_t first, std::uint64_t count) {
  return {Addr{first << kPageShift}, Addr{(first + count) << kPageShift}};
}

TEST(RbTree, StaysOrderedBalancedAndKnowsItsGapsWhateverComesAndGoes) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 40; ++round) {
    RbTree tree;
    std::map<std::uint64_t, RbTree::Id> held;  // by number of the slot of ten pages
    for (int i = 0; i < 400; ++i) {
      const std::uint64_t slot = random() % 200;
      if (const auto found = held.find(slot); found != held.end()) {
        const RbTree::Id next = tree.next(found->second);
        tree.erase(found->second);
        tree.unlink(found->second);
        if (next != 0) tree.update_gap(next);
        held.erase(found);
      } else {
        held[slot] = tree.insert(pages(1000 + slot * 10, 1 + random() % 10));
      }
      ASSERT_TRUE(tree.sound()) << "round " << round << ", change " << i;
      ASSERT_LE(tree.height(), 2 * std::log2(static_cast<double>(held.size() + 1)) + 1e-9);
    }
    for (const auto& [slot, id] : held) {
      EXPECT_EQ(tree.at(pages(1000 + slot * 10, 1).start), id);
      EXPECT_EQ(tree.find(tree.range(id).start), id);
      EXPECT_EQ(tree.find(tree.range(id).end - 1), id);
    }
  }
}

TEST(RbTree, AscendingInsertionsLeanToTheRight) {
  // 15 keys in ascending order, by the rules of red-black trees: 3 levels of black nodes at the left, 6 levels in all.
  RbTree tree;
  for (std::uint64_t i = 0; i < 15; ++i) tree.insert(pages(10 * i, 1));
  EXPECT_EQ(tree.height(), 6);
  tree.forget_work();
  tree.find(pages(0, 1).start);
  EXPECT_EQ(tree.work().levels, 3);
}

TEST(RbTree, AGapThatStaysTheLargestIsTheEndOfItsPropagation) {
  RbTree tree;
  for (std::uint64_t i = 1; i <= 7; ++i) tree.insert(pages(100 * i, 10));
  tree.forget_work();
  const RbTree::Id last = tree.at(pages(700, 1).start);
  tree.move(last, pages(700, 20));
  tree.update_gap(last);
  EXPECT_EQ(tree.work().gaps, 1) << "the gap below it is as large as before";
  tree.move(last, pages(650, 70));
  tree.update_gap(last);
  EXPECT_TRUE(tree.sound());
  EXPECT_GE(tree.work().gaps, 3) << "the VMA's own, its parent's";
}

}  // namespace
}  // namespace faultline::mm
