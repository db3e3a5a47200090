// Damaged programs: whatever the text, the parser ends, and an error's place is in the text.
#include <gtest/gtest.h>

#include <random>

#include "program/equal.h"
#include "program/parser.h"
#include "program/printer.h"
#include "random_program.h"

namespace faultline::program {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines(1);
  for (const char c : text) {
    if (c == '\n') {
      lines.emplace_back();
    } else {
      lines.back() += c;
    }
  }
  return lines;
}

/// Changes a few places of the text: bytes and words dropped, doubled, exchanged or replaced.
std::string damage(std::string text, std::mt19937& random) {
  static const std::vector<std::string> kPieces = {"(",         ")",
                                                   "{",         "}",
                                                   "=",         "..",
                                                   ",",         ";",
                                                   "\n",        "#",
                                                   "\"",        "\\",
                                                   "-1",        "0",
                                                   "0x",        "99999999999999999999",
                                                   "let ",      "param ",
                                                   "repeat ",   "on ",
                                                   "at ",       "measure ",
                                                   "vmas(",     "mmap(",
                                                   "exit(",     "|",
                                                   "<<",        "&&",
                                                   "EINVAL",    " SIGSEGV ",
                                                   "PROT_REED", "\xC3",
                                                   "\xC3\xA9",  std::string(1, '\0'),
                                                   "\t",        "é",
                                                   "model:",    "/ 0"};
  const auto below = [&random](std::size_t n) { return n == 0 ? 0 : static_cast<std::size_t>(random()) % n; };
  for (std::size_t changes = 1 + below(4); changes > 0; --changes) {
    const std::size_t place = below(text.size() + 1);
    const std::size_t length = std::min(below(12), text.size() - place);
    switch (below(5)) {
      case 0:
        text.erase(place, length);
        break;
      case 1:
        text.insert(place, text.substr(place, length));
        break;
      case 2:
        text.insert(place, kPieces[below(kPieces.size())]);
        break;
      case 3:
        text.replace(place, length, kPieces[below(kPieces.size())]);
        break;
      default:
        text.resize(place);
        break;
    }
  }
  return text;
}

TEST(Fuzz, EveryDamagedProgramParsesOrFailsAtAPlaceInItsText) {
  std::mt19937 random(20240607);
  int refused = 0;
  constexpr int kPrograms = 6000;
  for (int i = 0; i < kPrograms; ++i) {
    std::vector<std::uint32_t> choices(120);
    for (auto& choice : choices) choice = static_cast<std::uint32_t>(random());
    const std::string text = damage(print(random_program(choices)), random);
    const auto program = parse(text, "damaged.fl");
    if (program) {
      const std::string printed = print(*program);
      const auto again = parse(printed, "printed.fl");
      ASSERT_TRUE(again) << render(again.error()) << printed;
      ASSERT_TRUE(equal(*program, *again)) << text << "\n---\n" << printed;
      continue;
    }
    ++refused;
    const Error& error = program.error();
    const auto lines = lines_of(text);
    ASSERT_GE(error.position.line, 1U);
    ASSERT_LE(error.position.line, lines.size()) << text;
    ASSERT_GE(error.position.column, 1U);
    ASSERT_LE(error.position.column, lines[error.position.line - 1].size() + 1) << render(error) << text;
    ASSERT_FALSE(error.message.empty());
    ASSERT_TRUE(lines[error.position.line - 1].starts_with(error.source_line));
    ASSERT_TRUE(render(error).starts_with("damaged.fl:"));
  }
  // Both outcomes are common, or the test shows little.
  EXPECT_GT(refused, kPrograms / 4);
  EXPECT_LT(refused, kPrograms * 99 / 100);
}

TEST(Fuzz, RandomBytesAreRefusedWithoutACrash) {
  std::mt19937 random(7);
  for (int i = 0; i < 2000; ++i) {
    std::string text(1 + random() % 200, '\0');
    for (char& c : text) c = static_cast<char>(i % 2 == 0 ? random() % 256 : 32 + random() % 95);
    const auto program = parse(text, "random.fl");
    if (!program) {
      EXPECT_LE(program.error().position.line, lines_of(text).size());
      EXPECT_FALSE(render(program.error()).empty());
    }
  }
}

}  // namespace
}  // namespace faultline::program
