// The drawing of address spaces, from VMAs made by hand.
#include "report/vma_map.h"

#include <gtest/gtest.h>

namespace faultline::report {
namespace {

using mm::Vma;
using mm::VmFlags;

constexpr VmFlags kReadWrite = VmFlags::read | VmFlags::write | VmFlags::account;
constexpr std::uint64_t kBase = 0x100000;

Range pages(std::uint64_t first, std::uint64_t count) {
  return Range::of(Addr{kBase + first * kPageSize}, count * kPageSize);
}

Vma vma(std::uint64_t first, std::uint64_t count, VmFlags flags = kReadWrite) {
  Vma made;
  made.start = pages(first, count).start;
  made.end = pages(first, count).end;
  made.flags = flags;
  made.pgoff = made.start.page();
  return made;
}

std::string draw(std::vector<Vma> before, std::vector<Vma> after, std::optional<Range> worked_on = {}) {
  return draw_vmas(*mm::parse_profile("6.18"), {std::move(before), std::move(after), worked_on});
}

/// What stands behind a label, such as "before".
std::string line(const std::string& text, const std::string& label) {
  const std::size_t at = text.find("      " + label);
  if (at == std::string::npos) return "no line " + label;
  const std::size_t begin = at + 15;
  const std::size_t end = text.find('\n', at);
  return begin < end ? text.substr(begin, end - begin) : "";
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(VmaMap, DrawsALetterPerVmaAndAColumnPerPageAsTheKernelsTestsDo) {
  const std::string text =
      draw({vma(0, 2), vma(3, 1), vma(7, 2), vma(11, 2)}, {vma(0, 4), vma(7, 2), vma(11, 2)}, pages(2, 1));
  EXPECT_EQ(line(text, "before"), "AA B   CC  DD");
  EXPECT_EQ(line(text, "range"), "  *");
  EXPECT_EQ(line(text, "after"), "AAAA   CC  DD");
}

TEST(VmaMap, ShortensLongStretchesOnAllLinesAlike) {
  const std::string text = draw({vma(0, 1000)}, {vma(0, 10), vma(20, 980)}, pages(10, 10));
  EXPECT_EQ(line(text, "before"), "AA…AAAA…AAAA…AA");
  EXPECT_EQ(line(text, "range"), "     **…**");
  EXPECT_EQ(line(text, "after"), "BB…BB  …  AA…AA");
}

TEST(VmaMap, LetsTheLargestPartOfASplitVmaKeepItsLetter) {
  const std::string text = draw({vma(0, 6)}, {vma(0, 1), vma(1, 4, VmFlags::read), vma(5, 1)}, pages(1, 4));
  EXPECT_EQ(line(text, "after"), "BAAAAC");
}

TEST(VmaMap, DrawsOnceWhereNothingChanged) {
  const std::string text = draw({vma(0, 2)}, {vma(0, 2)}, pages(0, 1));
  EXPECT_EQ(line(text, "VMAs"), "AA");
  EXPECT_EQ(line(text, "range"), "*");
  EXPECT_FALSE(contains(text, "before"));
}

TEST(VmaMap, SaysOfEachLetterItsRangePermissionsAndFlags) {
  const std::string text = draw({}, {vma(0, 2, kReadWrite | VmFlags::locked)});
  EXPECT_TRUE(
      contains(text, "A  0x100000-0x102000 rw-p anon, 2 pages, locked, account, soft-dirty tracked, no anon_vma\n"))
      << text;
}

TEST(VmaMap, SaysWhichAttributeKeepsNeighboursApart) {
  Vma moved = vma(2, 1);
  moved.pgoff = 77;
  Vma faulted = vma(3, 1);
  faulted.pgoff = 78;
  faulted.anon_vma = 2;
  faulted.chain = 2;
  const std::string text = draw({}, {vma(0, 1, VmFlags::read), vma(1, 1), moved, faulted, vma(9, 1)});
  EXPECT_TRUE(contains(text, "not merged with A: the flags differ: write, account ")) << text;
  EXPECT_TRUE(contains(text, "not merged with B: the offsets are not contiguous ")) << text;
  EXPECT_TRUE(contains(text, "not merged with C: the anon_vmas differ, or fork cloned one ")) << text;
  EXPECT_FALSE(contains(text, "with D:")) << "it is not adjacent\n" << text;
}

TEST(VmaMap, SaysWhereOnlyTheLackOfACallKeepsNeighboursApart) {
  const std::string text = draw({}, {vma(0, 1), vma(1, 1)});
  EXPECT_TRUE(contains(text, "   like A, but no call has looked at both since")) << text;
}

TEST(VmaMap, ShowsTheNeighbourhoodOfTheRangeOnly) {
  std::vector<Vma> many;
  for (std::uint64_t i = 0; i < 50'000; ++i) many.push_back(vma(2 * i, 1));
  const std::string text = draw(many, many, pages(2000, 1));
  EXPECT_EQ(line(text, "VMAs"), "A B C D E");
  EXPECT_EQ(line(text, "range"), "    *");
  EXPECT_TRUE(contains(text, "and 49,995 VMAs more\n")) << text;
  const std::string all = draw(many, many);
  EXPECT_TRUE(contains(all, "and 49,984 VMAs more\n")) << all;
}

}  // namespace
}  // namespace faultline::report
