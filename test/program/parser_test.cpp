// What each construct of the language becomes.
#include "program/parser.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "base/signal.h"
#include "program/printer.h"

namespace faultline::program {
namespace {

Program parsed(std::string_view text) {
  auto program = parse(text, "test.fl");
  if (!program) {
    ADD_FAILURE() << render(program.error());
    return {};
  }
  return std::move(*program);
}

template <class Node>
const Node& node(const Program& program, std::size_t i) {
  return std::get<Node>(program.body.at(i).node);
}

constexpr std::string_view kSample = R"(# The quarantine loop of a hardened allocator (seeds/mprotect-v5.txt).
param pages = 32                          # --set pages=1,8,64 sweeps it
let size = pages * PAGE

a = mmap(NULL, size, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0)
store(a, size)                            # one store per page; store(a, size, 8) would be one per 8 bytes
measure "cycle" repeat 1000 {
    mprotect(a, size, PROT_NONE) = 0
    mprotect(a, size, PROT_READ|PROT_WRITE) = 0
    store(a, size)
}
expect vmas(a, size) == 1
expect faults("cycle") == 0 on model:6.1, vm:6.1, live
)";

TEST(Parser, ReadsTheSampleOfTheDesign) {
  const Program program = parsed(kSample);
  EXPECT_EQ(program.name, "test.fl");
  EXPECT_EQ(program.answers, "The quarantine loop of a hardened allocator (seeds/mprotect-v5.txt).");
  EXPECT_EQ(program.slots, (std::vector<std::string>{"pages", "size", "a"}));
  ASSERT_EQ(program.body.size(), 7U);
  EXPECT_EQ(node<Param>(program, 0).name, "pages");
  EXPECT_EQ(node<Let>(program, 1).slot.index, 1U);
  const auto& map = node<SystemCall>(program, 2);
  EXPECT_EQ(map.sys, Sys::mmap);
  EXPECT_EQ(map.result_name, "a");
  EXPECT_EQ(map.result_slot->index, 2U);
  EXPECT_EQ(map.arguments.size(), 6U);
  EXPECT_EQ(program.body[2].position, (Position{5, 1}));
  EXPECT_EQ(program.body[3].text, "store(a, size)");
  const auto& cycle = node<Measure>(program, 4);
  EXPECT_EQ(cycle.name, "cycle");
  EXPECT_EQ(print(*cycle.count), "1000");
  ASSERT_EQ(cycle.body.size(), 3U);
  EXPECT_EQ(cycle.body[0].text, "mprotect(a, size, PROT_NONE) = 0");
  EXPECT_EQ(cycle.body[0].position, (Position{8, 5}));
  EXPECT_EQ(program.body[4].text, R"(measure "cycle" repeat 1000)");
  const auto& expect = node<Expect>(program, 6);
  ASSERT_EQ(expect.machines.size(), 3U);
  EXPECT_EQ(expect.machines[1].text(), "vm:6.1");
}

TEST(Parser, PrintsTheSampleOfTheDesignWithoutItsComments) {
  EXPECT_EQ(print(parsed(kSample)), R"(# The quarantine loop of a hardened allocator (seeds/mprotect-v5.txt).
param pages = 32
let size = pages * PAGE
a = mmap(NULL, size, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0)
store(a, size)
measure "cycle" repeat 1000 {
    mprotect(a, size, PROT_NONE) = 0
    mprotect(a, size, PROT_READ|PROT_WRITE) = 0
    store(a, size)
}
expect vmas(a, size) == 1
expect faults("cycle") == 0 on model:6.1, vm:6.1, live
)");
}

TEST(Parser, AnEmptyTextIsAnEmptyProgram) {
  for (const std::string_view text : {"", "\n", "   ", "\r\n\t\n", ";;", "\xEF\xBB\xBF"}) {
    const Program program = parsed(text);
    EXPECT_TRUE(program.body.empty());
    EXPECT_EQ(program.answers, "");
  }
}

TEST(Parser, TakesWhatTheProgramAnswersFromItsFirstCommentLine) {
  EXPECT_EQ(parsed("# What?\n# more\n").answers, "What?");
  EXPECT_EQ(parsed("\n\n##  What?  \r\nload(1)").answers, "What?");
  EXPECT_EQ(parsed("#!/usr/bin/env faultline\n# What?\n").answers, "What?");
  EXPECT_EQ(parsed("load(1) # no\n# nor this\n").answers, "");
  EXPECT_EQ(parsed("#").answers, "");
}

TEST(Parser, AProbeMayStandOnTheRightOfAnAssignment) {
  const Program program = parsed("let n = 0\nn = vmas() + 1\nm = getppid()");
  EXPECT_TRUE(node<Let>(program, 1).rebinds);
  EXPECT_EQ(node<Let>(program, 1).slot.index, 0U);
  EXPECT_EQ(node<SystemCall>(program, 2).result_slot->index, 1U);
}

TEST(Parser, ASystemCallsResultGoesToANewOrAnExistingVariable) {
  const Program program = parsed("a = brk(0)\na = brk(a)\nrepeat 2 { a = brk(a); b = brk(a) }\nb = brk(0)");
  EXPECT_EQ(program.slots, (std::vector<std::string>{"a", "b", "b"}));
  EXPECT_EQ(node<SystemCall>(program, 1).result_slot->index, 0U);
  const Block& body = node<Repeat>(program, 2).body;
  EXPECT_EQ(std::get<SystemCall>(body[0].node).result_slot->index, 0U);
  EXPECT_EQ(std::get<SystemCall>(body[1].node).result_slot->index, 1U);
  EXPECT_EQ(node<SystemCall>(program, 3).result_slot->index, 2U);
}

TEST(Parser, AnInnerLetHidesTheOuterNameUntilItsBlockEnds) {
  const Program program = parsed("let a = 1\nrepeat 1 { let a = a + 1; load(a) }\nload(a)");
  const Block& body = node<Repeat>(program, 1).body;
  const auto& inner = std::get<Let>(body[0].node);
  EXPECT_EQ(inner.slot.index, 1U);
  EXPECT_EQ(std::get<Variable>(std::get<Binary>(inner.value->node).left->node).slot.index, 0U);
  EXPECT_EQ(std::get<Variable>(std::get<Access>(body[1].node).address->node).slot.index, 1U);
  EXPECT_EQ(std::get<Variable>(node<Access>(program, 2).address->node).slot.index, 0U);
}

TEST(Parser, ReadsResultsOfSystemCalls) {
  const Program program = parsed(
      "munmap(0x7f00, 4096) = 0\n"
      "munmap(0, 0) = -1 EINVAL\n"
      "munmap(0, 0) = -1 EINVAL (Invalid argument)\n"
      "munmap(0, 0) = -EINVAL\n"
      "a = brk(0) = 4096 + 1 # comment\n"
      "munmap(0, 0) = -1 EAGAIN (Can't \"do\" that, {now}; #1) # comment\n"
      "repeat 1 { munmap(0, 0) = -1 ENOMEM (Cannot allocate memory) }");
  EXPECT_TRUE(std::holds_alternative<ExpectValue>(*node<SystemCall>(program, 0).assertion));
  EXPECT_EQ(std::get<ExpectErrno>(*node<SystemCall>(program, 1).assertion).error, EINVAL);
  EXPECT_EQ(std::get<ExpectErrno>(*node<SystemCall>(program, 2).assertion).error, EINVAL);
  EXPECT_EQ(print(*std::get<ExpectValue>(*node<SystemCall>(program, 3).assertion).value), "-EINVAL");
  EXPECT_EQ(print(*std::get<ExpectValue>(*node<SystemCall>(program, 4).assertion).value), "4096 + 1");
  EXPECT_EQ(std::get<ExpectErrno>(*node<SystemCall>(program, 5).assertion).error, EAGAIN);
  EXPECT_EQ(program.body[2].text, "munmap(0, 0) = -1 EINVAL (Invalid argument)");
  EXPECT_EQ(print(program).find("Invalid"), std::string::npos);
}

TEST(Parser, ALineOfStraceIsAStatement) {
  const Program program = parsed(
      "mmap(NULL, 8192, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = 0x7f3c5a000000\n"
      "mprotect(0x7f00, 4096, PROT_NONE)       = 0\n"
      "munmap(0x7f3c5a000001, 8192)            = -1 EINVAL (Invalid argument)\n"
      "mremap(0x7f0000, 4096, 8192, MREMAP_MAYMOVE) = 0x7f3c5a000000\n"
      "madvise(0x7f0000, 4096, MADV_DONTNEED)  = 0\n"
      "brk(NULL)                               = 0x55d0c0000000\n");
  EXPECT_EQ(program.body.size(), 6U);
}

TEST(Parser, ReadsAccessesWithOneToFourArguments) {
  const Program program = parsed(
      "load(1)\nload(1, 2)\nload(1, 2, 3)\nstore(1, 2, 3, 4)\natomic(1, 2, 3, 4)\nfetch(1, 2, 3)\n"
      "load(1, 2) at 0x1000 = SIGSEGV SEGV_ACCERR\nstore(1) = 0\nstore(1) = SIGBUS\nload(1) = SIGSEGV SEGV_PKUERR");
  EXPECT_EQ(node<Access>(program, 0).length, nullptr);
  EXPECT_EQ(node<Access>(program, 1).stride, nullptr);
  EXPECT_EQ(node<Access>(program, 2).value, nullptr);
  EXPECT_EQ(print(*node<Access>(program, 3).value), "4");
  EXPECT_EQ(node<Access>(program, 3).kind, AccessKind::store);
  EXPECT_EQ(node<Access>(program, 4).kind, AccessKind::atomic);
  EXPECT_EQ(node<Access>(program, 5).kind, AccessKind::fetch);
  const auto& at = node<Access>(program, 6);
  EXPECT_EQ(print(*at.text), "0x1000");
  EXPECT_EQ(std::get<ExpectSignal>(*at.assertion).number, kSigSegv);
  EXPECT_EQ(std::get<ExpectSignal>(*at.assertion).code, kSegvAccErr);
  EXPECT_EQ(print(*std::get<ExpectValue>(*node<Access>(program, 7).assertion).value), "0");
  EXPECT_EQ(std::get<ExpectSignal>(*node<Access>(program, 8).assertion).number, kSigBus);
  EXPECT_FALSE(std::get<ExpectSignal>(*node<Access>(program, 8).assertion).code);
  EXPECT_EQ(std::get<ExpectSignal>(*node<Access>(program, 9).assertion).code, kSegvPkuErr);
}

TEST(Parser, ReadsBlocks) {
  const Program program = parsed(
      "repeat 3 { load(1) }\n"
      "for i in 0..2 + 1 {\n load(i)\n}\n"
      "threads 4 { load(thread) }\n"
      "child { load(1) }\n"
      "child \"kid\" { }\n"
      "exit(\"kid\")\n"
      "measure \"once\" { load(1); load(2) }\n"
      "code(4096)");
  EXPECT_EQ(print(*node<Repeat>(program, 0).count), "3");
  const auto& loop = node<For>(program, 1);
  EXPECT_EQ(loop.name, "i");
  EXPECT_EQ(print(*loop.first), "0");
  EXPECT_EQ(print(*loop.limit), "2 + 1");
  const auto& threads = node<Threads>(program, 2);
  EXPECT_EQ(program.slots[threads.slot.index], "thread");
  EXPECT_EQ(std::get<Variable>(std::get<Access>(threads.body[0].node).address->node).slot.index, threads.slot.index);
  EXPECT_EQ(node<Child>(program, 3).name, "");
  EXPECT_EQ(node<Child>(program, 4).name, "kid");
  EXPECT_EQ(node<ExitChild>(program, 5).name, "kid");
  EXPECT_EQ(node<Measure>(program, 6).count, nullptr);
  EXPECT_EQ(node<Measure>(program, 6).body.size(), 2U);
  EXPECT_EQ(print(*node<PlaceCode>(program, 7).address), "4096");
}

TEST(Parser, StatementsEndAtLinesSemicolonsAndBraces) {
  EXPECT_EQ(parsed("load(1); load(2);; load(3)\r\nload(4)").body.size(), 4U);
  EXPECT_EQ(node<Repeat>(parsed("repeat 1{load(1);load(2)}"), 0).body.size(), 2U);
}

TEST(Parser, ParenthesesJoinLines) {
  const Program program =
      parsed("mprotect(4096, # start\n  4096,\n\n  PROT_READ|\n  PROT_WRITE\n) = 0\nload((1 +\n 2))");
  ASSERT_EQ(program.body.size(), 2U);
  EXPECT_EQ(program.body[0].text, "mprotect(4096, 4096, PROT_READ|PROT_WRITE) = 0");
  EXPECT_EQ(program.body[1].text, "load(1 + 2)");
  EXPECT_EQ(program.body[1].position, (Position{7, 1}));
}

TEST(Parser, NamesOfCallsAndProbesAreFreeForVariables) {
  const Program program =
      parsed("let code = 1; let count = code; let mmap = count + 1; value = mmap(0, 1, 2, 3, 4, 5)");
  EXPECT_EQ(program.slots, (std::vector<std::string>{"code", "count", "mmap", "value"}));
}

TEST(Parser, StringsHoldWhatTheirEscapesMean) {
  const Program program = parsed(R"(memfd_create("a\"\\\n\t\r\x41é#"); prctl(PR_SET_VMA, 0, 1, 2, "name"))");
  EXPECT_EQ(std::get<StringLiteral>(node<SystemCall>(program, 0).arguments[0]->node).value, "a\"\\\n\t\rAé#");
  EXPECT_EQ(std::get<StringLiteral>(node<SystemCall>(program, 1).arguments[4]->node).value, "name");
}

TEST(Parser, TheArgumentsThatACallMayLackAreLeftOut) {
  const Program program = parsed("mseal(4096, 4096)\nmseal(4096, 4096, 0)\nopen(\"f\", O_RDONLY)\nmunlockall()");
  EXPECT_EQ(node<SystemCall>(program, 0).arguments.size(), 2U);
  EXPECT_EQ(node<SystemCall>(program, 1).arguments.size(), 3U);
  EXPECT_EQ(node<SystemCall>(program, 2).arguments.size(), 2U);
  EXPECT_EQ(node<SystemCall>(program, 3).arguments.size(), 0U);
}

TEST(Parser, AnExpectationNamesItsMachines) {
  const Program program =
      parsed("expect 1 == 1 on model:arm64/6.8+rmw=write-first , live:>=6.2# comment\nexpect 2;expect 3 on vm;load(1)");
  const auto& machines = node<Expect>(program, 0).machines;
  ASSERT_EQ(machines.size(), 2U);
  EXPECT_EQ(machines[0].text(), "model:arm64/6.8+rmw=write-first");
  EXPECT_EQ(machines[1].text(), "live:>=6.2");
  EXPECT_TRUE(node<Expect>(program, 1).machines.empty());
  EXPECT_EQ(program.body.size(), 4U);
}

TEST(Parser, AMeasureMayBeNamedBeforeItsBlock) {
  EXPECT_EQ(parsed("repeat 2 { expect faults(\"m\") == 0; measure \"m\" { } }").body.size(), 1U);
}

}  // namespace
}  // namespace faultline::program
