// The shape of the kernel's tree of VMAs: what it holds is what was stored, its nodes are as full as the kernel's rules
// have them, and it takes what lib/maple_tree.c takes for it.
#include "mm/maple_tree.h"

#include <gtest/gtest.h>

#include <random>

namespace faultline::mm {
namespace {

using Entry = MapleTree::Entry;
using Balance = MapleTree::Balance;

Range pages(std::uint64_t first, std::uint64_t count) {
  return {Addr{first << kPageShift}, Addr{(first + count) << kPageShift}};
}

/// Pages one by one: 0, or which store they are of.
class Plain {
 public:
  void store(std::uint64_t first, std::uint64_t count, Entry entry) {
    ++stores_;
    for (std::uint64_t page = first; page < first + count; ++page) of_[page] = entry == Entry::gap ? 0 : stores_;
  }

  std::vector<MapleTree::Held> held() const {
    std::vector<MapleTree::Held> all;
    for (std::size_t page = 0; page < kPages; ++page) {
      const bool last = page + 1 == kPages;
      if (!last && of_[page] == of_[page + 1]) continue;
      if (last && of_[page] == 0) break;
      all.push_back({((page + 1) << kPageShift) - 1, of_[page] == 0 ? Entry::gap : Entry::vma});
    }
    all.push_back({~std::uint64_t{0}, Entry::gap});
    return all;
  }

  static constexpr std::size_t kPages = 3000;

 private:
  std::vector<int> of_ = std::vector<int>(kPages);
  int stores_ = 0;
};

TEST(MapleTree, HoldsWhatWasStoredInNodesThatAreNeitherTooFullNorTooEmpty) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 60; ++round) {
    MapleTree tree(round % 2 == 0 ? Balance::fills_neighbour : Balance::evens_out);
    Plain plain;
    const std::uint64_t longest = round % 3 == 0 ? 60 : 5;
    for (int i = 0; i < 600; ++i) {
      const std::uint64_t first = random() % (Plain::kPages - longest);
      const std::uint64_t count = 1 + random() % longest;
      const Entry entry = random() % 3 == 0 ? Entry::gap : Entry::vma;
      tree.store(pages(first, count), entry);
      plain.store(first, count, entry);
      ASSERT_EQ(tree.held(), plain.held()) << "round " << round << ", store " << i;
      ASSERT_TRUE(tree.sound()) << "round " << round << ", store " << i;
    }
  }
}

TEST(MapleTree, CopiesALeafForANewRangeAndNoneForABoundThatMoves) {
  MapleTree tree(Balance::fills_neighbour);
  tree.store(pages(10, 10), Entry::vma);
  tree.store(pages(30, 10), Entry::vma);
  tree.forget_work();
  // Gap, VMA, gap, VMA, gap; the second VMA is cut in two.
  tree.store(pages(35, 5), Entry::vma);
  EXPECT_EQ(tree.work().nodes, 1);
  EXPECT_EQ(tree.work().entries, 6);
  tree.forget_work();
  tree.store(pages(10, 15), Entry::vma);
  EXPECT_EQ(tree.work().nodes, 0) << "the VMA grows into the gap above";
  tree.store(pages(10, 15), Entry::vma);
  EXPECT_EQ(tree.work().nodes, 0) << "the same range";
}

TEST(MapleTree, SplitsALeafOfSixteenRangesInTheMiddle) {
  MapleTree tree(Balance::fills_neighbour);
  // Each adds a range, but the first two: a gap before and a gap behind.
  for (std::uint64_t i = 0; i < 14; ++i) tree.store(pages(10 + i, 1), Entry::vma);
  EXPECT_EQ(tree.height(), 1);
  EXPECT_EQ(tree.leaves(), std::vector<std::uint32_t>{16});
  tree.forget_work();
  tree.store(pages(24, 1), Entry::vma);
  EXPECT_EQ(tree.height(), 2);
  EXPECT_EQ(tree.leaves(), (std::vector<std::uint32_t>{9, 8}));
  EXPECT_EQ(tree.work().nodes, 3) << "two leaves and a root";
  EXPECT_EQ(tree.work().splits, 1);
}

TEST(MapleTree, JoinsLeavesThatBecomeTooEmpty) {
  MapleTree tree(Balance::fills_neighbour);
  for (std::uint64_t i = 0; i < 15; ++i) tree.store(pages(10 + i, 1), Entry::vma);
  ASSERT_EQ(tree.leaves().size(), 2);
  tree.store(pages(10, 5), Entry::gap);
  EXPECT_EQ(tree.height(), 1);
  EXPECT_EQ(tree.leaves(), std::vector<std::uint32_t>{12}) << "ten VMAs between two gaps";
}

/// Which of 48 mappings, each above the one before it with a page between, make the kernel split a node or fill a
/// neighbour: those that cost it about twice as much. Beside them there is what a small static program has.
std::vector<int> reshaping(Balance balance) {
  MapleTree tree(balance);
  constexpr std::uint64_t kTop = 1 << 20;
  tree.store(pages(kTop + 1000, 1), Entry::vma);
  for (std::uint64_t i = 0; i < 7; ++i) tree.store(pages(1000 + i, 1), Entry::vma);
  for (std::uint64_t i = 3; i-- > 0;) tree.store(pages(kTop + i, 1), Entry::vma);
  std::vector<int> found;
  for (int i = 0; i < 48; ++i) {
    tree.forget_work();
    tree.store(pages(kTop - 3200 + 2 * static_cast<std::uint64_t>(i), 1), Entry::vma);
    if (tree.work().reshaped() > 0) found.push_back(i);
  }
  return found;
}

TEST(MapleTree, IsReshapedByTheSameMappingsAsTheKernels) {
  // Counted on vm:6.1 and vm:6.12, line 7 of programs/calibration/held-out/tuning.fl.
  EXPECT_EQ(reshaping(Balance::fills_neighbour), (std::vector<int>{0, 5, 8, 13, 16, 21, 24, 29, 32, 37, 40, 45}));
  // On vm:7.3.
  EXPECT_EQ(reshaping(Balance::evens_out), (std::vector<int>{0,  4,  6,  7,  8,  12, 14, 15, 16, 20, 22, 23,
                                                             24, 28, 30, 31, 32, 36, 38, 39, 40, 44, 46, 47}));
}

TEST(MapleTree, LooksForAGapFromTheTopDownLeafByLeaf) {
  MapleTree tree(Balance::fills_neighbour);
  // In one leaf, from below: gap, VMA, gap of 5 pages, VMA, gap of 1, VMA, gap.
  for (const auto& [first, count] : {std::pair(10, 5), {20, 5}, {26, 5}}) {
    tree.store(pages(static_cast<std::uint64_t>(first), static_cast<std::uint64_t>(count)), Entry::vma);
  }
  const auto searched = [&](std::uint64_t count) {
    tree.forget_work();
    tree.search(count * kPageSize, (31 * kPageSize) - 1);
    return tree.work().searched;
  };
  EXPECT_EQ(searched(1), 2) << "the highest VMA, and the gap";
  EXPECT_EQ(searched(3), 3) << "below a gap that is too small is a VMA, which is not looked at";
  EXPECT_EQ(searched(8), 4);
}

TEST(MapleTree, PassesLeavesOfWhichNoGapIsLargeEnough) {
  MapleTree tree(Balance::fills_neighbour);
  for (std::uint64_t i = 0; i < 40; ++i) tree.store(pages(100 + 2 * i, 1), Entry::vma);
  tree.forget_work();
  tree.search(kPageSize, (179 * kPageSize) - 1);
  const std::uint64_t near = tree.work().searched;
  tree.forget_work();
  tree.search(2 * kPageSize, (179 * kPageSize) - 1);
  EXPECT_GT(tree.work().searched, near + tree.leaves().back() / 2) << "the last leaf's gaps, then the leaves above";
}

TEST(MapleTree, TheVmaBeforeOneIsFarOnlyWhereAnotherLeafHoldsIt) {
  MapleTree tree(Balance::fills_neighbour);
  for (std::uint64_t i = 0; i < 40; ++i) tree.store(pages(100 + 2 * i, 1), Entry::vma);
  ASSERT_EQ(tree.height(), 2);
  tree.forget_work();
  tree.walk();
  EXPECT_EQ(tree.work().levels, 2);
  std::uint64_t far = 0;
  for (std::uint64_t i = 1; i < 40; ++i) {
    tree.forget_work();
    tree.step_back((100 + 2 * i) * kPageSize);
    far += tree.work().levels > 1 ? 1 : 0;
  }
  EXPECT_EQ(far, tree.leaves().size() - 1) << "of the first VMA of each leaf but the first";
}

TEST(MapleTree, ACopyTakesItsOwnWay) {
  MapleTree tree(Balance::fills_neighbour);
  for (std::uint64_t i = 0; i < 100; ++i) tree.store(pages(10 + 2 * i, 1), Entry::vma);
  MapleTree copy(tree);
  EXPECT_EQ(copy.held(), tree.held());
  EXPECT_EQ(copy.work().nodes, 0);
  copy.store(pages(10, 200), Entry::gap);
  EXPECT_TRUE(copy.sound());
  EXPECT_EQ(copy.held().size(), 1);
  EXPECT_EQ(tree.held().size(), 201);
}

}  // namespace
}  // namespace faultline::mm
