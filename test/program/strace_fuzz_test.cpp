// Damaged logs: whatever the text, the import ends; what it makes is a program, and an error's place is in the text.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "program/equal.h"
#include "program/parser.h"
#include "program/printer.h"
#include "program/strace.h"

namespace faultline::program {
namespace {

std::vector<std::string> real_logs() {
  std::vector<std::string> logs;
  for (const auto& entry : std::filesystem::directory_iterator(FAULTLINE_STRACE_LOGS)) {
    std::ostringstream text;
    text << std::ifstream(entry.path(), std::ios::binary).rdbuf();
    logs.push_back(text.str());
  }
  std::ranges::sort(logs);
  return logs;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  for (;;) {
    const std::size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return lines;
    text.remove_prefix(end + 1);
  }
}

/// A few lines of a log, with lines and bytes dropped, doubled, exchanged or replaced.
std::string damaged(const std::string& log, std::mt19937& random) {
  const auto below = [&random](std::size_t n) { return n == 0 ? 0 : static_cast<std::size_t>(random()) % n; };
  const std::vector<std::string_view> lines = lines_of(log);
  std::string text;
  const std::size_t first = below(lines.size());
  for (std::size_t i = first; i < std::min(lines.size(), first + 40); ++i) {
    const std::size_t choice = below(20);
    if (choice == 0) continue;
    text += std::string(choice == 1 ? lines[below(lines.size())] : lines[i]) + "\n";
    if (choice == 2) text += std::string(lines[i]) + "\n";
  }
  static const std::vector<std::string> kPieces = {"(",
                                                   ")",
                                                   "= ",
                                                   "<unfinished ...>",
                                                   "<... mmap resumed>",
                                                   "strace: Process 7 attached",
                                                   "\n",
                                                   "[pid 7] ",
                                                   "7 ",
                                                   "+++ exited with 0 +++",
                                                   "--- SIGSEGV {} ---",
                                                   "|",
                                                   "<<",
                                                   "/*",
                                                   "*/",
                                                   "<",
                                                   ">",
                                                   "-1 ENOMEM",
                                                   "-1",
                                                   "?",
                                                   "0x",
                                                   "99999999999999999999",
                                                   "18446744073709551615",
                                                   "0xffffffffffffffff",
                                                   "0x7ffffffff000",
                                                   "PROT_NONE",
                                                   "MAP_FIXED",
                                                   "NULL",
                                                   "brk(NULL) = 0x0",
                                                   "fork() = 7\n",
                                                   "execve(\"\", [], 0) = 0\n",
                                                   "\xC3",
                                                   std::string(1, '\0'),
                                                   "\r",
                                                   "\t"};
  for (std::size_t changes = below(4); changes > 0; --changes) {
    const std::size_t place = below(text.size() + 1);
    const std::size_t length = std::min(below(12), text.size() - place);
    switch (below(4)) {
      case 0:
        text.erase(place, length);
        break;
      case 1:
        text.replace(place, length, kPieces[below(kPieces.size())]);
        break;
      case 2:
        text.insert(place, text.substr(place, length));
        break;
      default:
        text.insert(place, kPieces[below(kPieces.size())]);
        break;
    }
  }
  return text;
}

void expect_place_in(const std::string& text, const Error& error) {
  const auto lines = lines_of(text);
  ASSERT_GE(error.position.line, 1U);
  ASSERT_LE(error.position.line, lines.size()) << text;
  ASSERT_GE(error.position.column, 1U);
  ASSERT_LE(error.position.column, lines[error.position.line - 1].size() + 1) << render(error) << text;
  ASSERT_FALSE(error.message.empty());
}

TEST(StraceFuzz, EveryDamagedLogBecomesAProgramOrFailsAtAPlaceInItsText) {
  const std::vector<std::string> logs = real_logs();
  ASSERT_GE(logs.size(), 5U);
  std::mt19937 random(20240607);
  int refused = 0;
  constexpr int kLogs = 4000;
  for (int i = 0; i < kLogs; ++i) {
    const std::string text = damaged(logs[static_cast<std::size_t>(i) % logs.size()], random);
    const auto import = import_strace(text, "damaged.log");
    if (!import) {
      ++refused;
      expect_place_in(text, import.error());
      if (testing::Test::HasFatalFailure()) return;
      continue;
    }
    for (const StraceProcess& process : import->processes) {
      const std::string printed = print(process.program);
      const auto again = parse(printed, "printed.fl");
      ASSERT_TRUE(again) << render(again.error()) << printed;
      ASSERT_TRUE(equal(process.program, *again)) << text << "\n---\n" << printed;
    }
  }
  // Both outcomes are common, or the test shows little.
  EXPECT_GT(refused, kLogs / 20);
  EXPECT_LT(refused, kLogs * 3 / 4);
}

TEST(StraceFuzz, RandomBytesAreRefusedWithoutACrash) {
  std::mt19937 random(7);
  for (int i = 0; i < 2000; ++i) {
    std::string text(random() % 200, '\0');
    for (char& c : text) c = static_cast<char>(i % 2 == 0 ? random() % 256 : 32 + random() % 95);
    const auto import = import_strace(text, "random.log");
    if (!import) expect_place_in(text, import.error());
    static_cast<void>(looks_like_strace(text));
  }
}

/// Lines that would cost more than their length, were they remembered or joined carelessly.
TEST(StraceFuzz, HostileRepetitionTakesLinearTime) {
  constexpr int kLines = 200'000;
  const auto import_lines = [](std::string_view line) {
    std::string text = "1 munmap(0x1001, 1 <unfinished ...>\n";
    for (int i = 0; i < kLines; ++i) text += line;
    EXPECT_TRUE(import_strace(text, "hostile.log")) << line;
  };
  import_lines("1 <... munmap resumed> <unfinished ...>\n");
  import_lines("x(1strace: Process 7 attached\n");
  import_lines("1 munmap(0x1001, 1 <unfinished ...>\n");
  import_lines("1 fork() = 2\n");
  import_lines("2 brk(NULL) = 0x1000\n2 brk(NULL) = 0x2000\n");
}

}  // namespace
}  // namespace faultline::program
