// Inputs of the wrong kind or size: a clear error or a right program, in time that grows with the text.
#include <gtest/gtest.h>

#include <ctime>
#include <functional>
#include <vector>

#include "program/parser.h"
#include "program/printer.h"

namespace faultline::program {
namespace {

std::string times(std::string_view text, std::size_t count) {
  std::string all;
  all.reserve(text.size() * count);
  for (std::size_t i = 0; i < count; ++i) all += text;
  return all;
}

Error error_of(std::string_view text) {
  auto program = parse(text, "bad.fl");
  if (program) {
    ADD_FAILURE() << "was accepted";
    return {};
  }
  return program.error();
}

double seconds_to_parse(std::string_view text) {
  const std::clock_t start = std::clock();  // of this process: other work on the machine does not count
  const auto program = parse(text, "timed.fl");
  EXPECT_TRUE(program) << render(program.error());
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

TEST(BadInput, ABinaryFileIsRefusedAtItsFirstByteThatIsNoText) {
  const Error elf =
      error_of(std::string_view("\x7f"
                                "ELF\x02\x01\x01\0\0",
                                9));
  EXPECT_EQ(elf.position, (Position{1, 1}));
  EXPECT_EQ(elf.message, "this is no text: expected UTF-8 without control characters but found the byte 0x7f");
  const Error nul = error_of(std::string_view("load(1)\nlo\0ad", 13));
  EXPECT_EQ(nul.position, (Position{2, 3}));
  EXPECT_NE(nul.message.find("the byte 0x00"), std::string::npos);
  // In comments and strings too: not UTF-8, cut short, overlong, a surrogate, beyond the last character.
  for (const std::string_view bytes : {"\xff", "\xC3", "\xC0\xAF", "\xED\xA0\x80", "\xF4\x90\x80\x80"}) {
    EXPECT_EQ(error_of("load(1)\n# " + std::string(bytes)).position, (Position{2, 3}));
  }
}

TEST(BadInput, AMillionLinesParse) {
  const std::string text = "let a = 0\n" + times("mprotect(a + 4096, 0x1000, PROT_READ|PROT_WRITE) = 0\n", 1000000);
  const auto program = parse(text, "long.fl");
  ASSERT_TRUE(program);
  EXPECT_EQ(program->body.size(), 1000001U);
  EXPECT_EQ(program->body.back().position, (Position{1000001, 1}));
}

TEST(BadInput, AnErrorInTheLastOfManyLinesNamesThatLine) {
  const Error error = error_of(times("load(1)\n", 100000) + "laod(1)");
  EXPECT_EQ(error.position, (Position{100001, 1}));
  EXPECT_EQ(error.source_line, "laod(1)");
}

TEST(BadInput, TimeGrowsNoFasterThanTheText) {
  const auto names = [](std::size_t count) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i) {
      const std::string n = std::to_string(i);
      text +=
          "a" + n + " = brk(0)\nmeasure \"m" + n + "\" { let b = a" + n + " }\nexpect faults(\"m" + n + "\") == 0\n";
    }
    return text;
  };
  for (const auto& make : std::vector<std::function<std::string(std::size_t)>>{
           [](std::size_t n) { return times("store(1, 2 * PAGE) = SIGSEGV\n", n); },
           names,
           [](std::size_t n) { return times("# a comment\n\n", n); },
           [](std::size_t n) { return "load(" + times("\n", n) + "1)"; },
           [](std::size_t n) { return times("repeat 1 { let a = 1; ", 90) + times("a = 2;", n) + times("}", 90); },
           [](std::size_t n) { return "memfd_create(\"" + times("\\n", n) + "\")"; },
       }) {
    const double small = seconds_to_parse(make(5000));
    const double large = seconds_to_parse(make(80000));
    // Sixteen times the text; quadratic work would take 256 times as long. A noisy machine is allowed for.
    EXPECT_LT(large, 100 * small + 0.05);
  }
}

TEST(BadInput, DeepBlocksAreRefusedAtTheFirstThatIsTooDeep) {
  EXPECT_TRUE(parse(times("repeat 1 {", 100) + times("}", 100), "deep.fl"));
  const Error error = error_of(times("repeat 1 {\n", 101) + times("}", 101));
  EXPECT_EQ(error.position, (Position{101, 10}));
  EXPECT_EQ(error.message, "this block is too deep: expected at most 100 blocks in each other");
  EXPECT_EQ(error_of(times("child {", 1000000)).position, (Position{1, 707}));
}

TEST(BadInput, DeepExpressionsAreRefusedAtTheFirstThatIsTooDeep) {
  EXPECT_TRUE(parse("load(" + times("(", 199) + "1" + times(")", 199) + ")", "deep.fl"));
  EXPECT_EQ(error_of("load(" + times("(", 1000000)).position, (Position{1, 206}));
  EXPECT_EQ(error_of("load(" + times("-", 1000000)).position, (Position{1, 206}));
  EXPECT_EQ(error_of("load(" + times("value(", 1000000)).position, (Position{1, 6 + 6 * 200}));
  // A chain of operators is a tree as deep as it is long: the 200th operator makes 201 levels.
  EXPECT_TRUE(parse("load(1" + times("+1", 199) + ")", "deep.fl"));
  EXPECT_EQ(error_of("load(1" + times("+1", 1000000) + ")").position, (Position{1, 7 + 2 * 199}));
}

TEST(BadInput, WhatIsAsDeepAsAllowedPrintsAndParsesAgain) {
  for (const std::string& text :
       {"load(1" + times("-1", 199) + ")", "load(" + times("~", 199) + "1)",
        "load(" + times("1-(", 199) + "1" + times(")", 199) + ")",
        times("repeat 1 {", 100) + "load(" + times("value(", 199) + "1" + times(")", 200) + times("}", 100)}) {
    const auto program = parse(text, "deep.fl");
    ASSERT_TRUE(program) << render(program.error());
    const std::string printed = print(*program);
    const auto again = parse(printed, "printed.fl");
    ASSERT_TRUE(again) << render(again.error());
    EXPECT_EQ(print(*again), printed);
  }
}

TEST(BadInput, LongNamesAndNumbersAreCutInMessages) {
  const std::string name = times("x", 1000000);
  for (const std::string& text : {name + "(1)",
                                  "load(" + name + ")",
                                  name + " = 1",
                                  "let " + name + " 1",
                                  times("1", 1000000),
                                  "let x = " + times("9", 1000000),
                                  "expect 1 on " + name,
                                  "load(1) = SIGSEGV " + name,
                                  "let " + name + " = 1; let " + name + " = 1",
                                  "let " + name + " = 1; param p = " + name,
                                  "expect faults(\"" + name + "\")",
                                  "exit(\"" + name + "\")",
                                  "measure \"" + name + "\" { }; measure \"" + name + "\" { }",
                                  "load(1) " + name,
                                  "load(\"" + name + "\")",
                                  "load(1) = -1 " + name,
                                  "mmap(0) = -1 " + name,
                                  "expect count(" + name + ", \"m\")",
                                  times("é", 1000) + "1",
                                  "a" + times("é", 1000)}) {
    EXPECT_LT(render(error_of(text)).size(), 1000U);
  }
}

}  // namespace
}  // namespace faultline::program
