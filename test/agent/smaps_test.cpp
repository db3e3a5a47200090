#include "agent/smaps.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <string>

namespace faultline::agent {
namespace {

/// A file with this text, as /proc would show it.
class Text {
 public:
  explicit Text(const std::string& text) : file_(memfd_create("smaps", 0)) {
    EXPECT_EQ(write(file_, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  ~Text() { close(file_); }
  Text(const Text&) = delete;
  Text& operator=(const Text&) = delete;
  int file() const { return file_; }

 private:
  int file_;
};

std::string area(std::uint64_t start, std::uint64_t end, unsigned huge_kilobytes) {
  std::array<char, 64> head{};
  std::snprintf(head.data(), head.size(), "%lx-%lx rw-p 00000000 00:00 0 \n", start, end);
  return head.data() + ("Size:               4096 kB\nAnonHugePages:     " + std::to_string(huge_kilobytes)) +
         " kB\nVmFlags: rd wr mr mw me ac sd \n";
}

Range range(std::uint64_t start, std::uint64_t end) { return {Addr{start}, Addr{end}}; }

TEST(Smaps, CountsTheHugePagesOfAreasThatLieInTheRange) {
  const Text text(area(0x400000, 0x800000, 2048) + area(0x800000, 0xc00000, 0) + area(0xc00000, 0x1000000, 4096));
  EXPECT_EQ(anon_huge_pages(text.file(), range(0x400000, 0x800000)), 512U);
  EXPECT_EQ(anon_huge_pages(text.file(), range(0x800000, 0xc00000)), 0U);
  EXPECT_EQ(anon_huge_pages(text.file(), range(0, 0x2000000)), 1536U);
}

TEST(Smaps, CannotTellForAPartOfAnAreaUnlessItHasNone) {
  const Text text(area(0x400000, 0x800000, 2048) + area(0x800000, 0xc00000, 0));
  EXPECT_EQ(anon_huge_pages(text.file(), range(0x400000, 0x600000)), std::nullopt);
  EXPECT_EQ(anon_huge_pages(text.file(), range(0x900000, 0xa00000)), 0U);
}

TEST(Smaps, ReadsTextLongerThanItsBuffer) {
  std::string text;
  for (std::uint64_t i = 1; i <= 500; ++i) text += area(i << 22, (i + 1) << 22, 2048);
  const Text file(text);
  EXPECT_EQ(anon_huge_pages(file.file(), range(1 << 22, 501UL << 22)), 500U * 512);
}

TEST(Smaps, FindsNothingInTextOfAnotherKind) {
  const Text text("AnonHugePages: 4096 kB\nnonsense\n\n-\n" + std::string(20000, 'x'));
  EXPECT_EQ(anon_huge_pages(text.file(), range(0x400000, 0x600000)), 0U);
}

}  // namespace
}  // namespace faultline::agent
