// How expressions are read: numbers, constants, operators, probes.
#include <gtest/gtest.h>

#include "program/parser.h"
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

/// The expression of `let x = TEXT` with every operation in parentheses, which shows how it was grouped.
std::string grouped(const Expr& expr) {
  if (const auto* b = std::get_if<Binary>(&expr.node)) {
    std::string op;
    switch (b->op) {
#define OP(name, text) \
  case BinaryOp::name: \
    op = text;         \
    break;
      OP(bit_or, "|")
      OP(bit_xor, "^")
      OP(bit_and, "&")
      OP(shift_left, "<<")
      OP(shift_right, ">>")
      OP(add, "+")
      OP(subtract, "-")
      OP(multiply, "*")
      OP(divide, "/")
      OP(remainder, "%")
      OP(equal, "==")
      OP(not_equal, "!=")
      OP(less, "<")
      OP(less_equal, "<=")
      OP(greater, ">")
      OP(greater_equal, ">=")
      OP(logical_and, "&&")
      OP(logical_or, "||")
#undef OP
    }
    return "(" + grouped(*b->left) + op + grouped(*b->right) + ")";
  }
  if (const auto* u = std::get_if<Unary>(&expr.node)) {
    const char* op = u->op == UnaryOp::minus ? "-" : u->op == UnaryOp::complement ? "~" : "!";
    return "(" + std::string(op) + grouped(*u->operand) + ")";
  }
  return print(expr);
}
std::string grouping(const std::string& text) {
  const Program program = parsed("let x = " + text);
  return grouped(*node<Let>(program, 0).value);
}

TEST(ParserExpressions, GroupsOperatorsAsCDoes) {
  EXPECT_EQ(grouping("1 + 2 * 3"), "(1+(2*3))");
  EXPECT_EQ(grouping("1 - 2 - 3"), "((1-2)-3)");
  EXPECT_EQ(grouping("7 / 2 % 3"), "((7/2)%3)");
  EXPECT_EQ(grouping("1 << 2 + 3"), "(1<<(2+3))");
  EXPECT_EQ(grouping("1 | 2 ^ 3 & 4"), "(1|(2^(3&4)))");
  EXPECT_EQ(grouping("1 & 2 == 2"), "(1&(2==2))");
  EXPECT_EQ(grouping("1 == 2 < 3"), "(1==(2<3))");
  EXPECT_EQ(grouping("1 < 2 << 3"), "(1<(2<<3))");
  EXPECT_EQ(grouping("1 || 2 && 3 | 4"), "(1||(2&&(3|4)))");
  EXPECT_EQ(grouping("1 >= 2 != 3 <= 4"), "((1>=2)!=(3<=4))");
  EXPECT_EQ(grouping("1 > 2 >> 3"), "(1>(2>>3))");
  EXPECT_EQ(grouping("-1 - -2"), "((-1)-(-2))");
  EXPECT_EQ(grouping("!~-1 * 2"), "((!(~(-1)))*2)");
  EXPECT_EQ(grouping("(1 + 2) * 3"), "((1+2)*3)");
  EXPECT_EQ(grouping("1 - (2 - 3)"), "(1-(2-3))");
}

TEST(ParserExpressions, KeepsANumberAsItWasWritten) {
  const Program program = parsed("let a = 64K; let b = 0x7F; let c = 0600; let d = 1G");
  const auto number = [&](std::size_t i) { return std::get<Number>(node<Let>(program, i).value->node); };
  EXPECT_EQ(number(0).value, 65536U);
  EXPECT_EQ(number(0).text, "64K");
  EXPECT_EQ(number(1).value, 127U);
  EXPECT_EQ(number(2).value, 384U);  // octal, as in open("…", O_CREAT, 0600)
  EXPECT_EQ(number(3).value, 1073741824U);
  EXPECT_EQ(print(program), "let a = 64K\nlet b = 0x7F\nlet c = 0600\nlet d = 1G\n");
}

TEST(ParserExpressions, ALengthOfTwoToThe63Parses) {
  const Program program = parsed("munmap(0, 0x8000000000000000)\nmunmap(0, 9223372036854775808)\nmunmap(0, 1 << 63)");
  EXPECT_EQ(std::get<Number>(node<SystemCall>(program, 0).arguments[1]->node).value, std::uint64_t{1} << 63U);
  EXPECT_EQ(std::get<Number>(node<SystemCall>(program, 1).arguments[1]->node).value, std::uint64_t{1} << 63U);
}

TEST(ParserExpressions, KnowsConstantsByName) {
  const Program program = parsed("let a = -ENOMEM; let b = MADV_GUARD_INSTALL");
  const auto& minus = std::get<Unary>(node<Let>(program, 0).value->node);
  EXPECT_EQ(std::get<NamedConstant>(minus.operand->node).value, 12U);
  const auto& guard = std::get<NamedConstant>(node<Let>(program, 1).value->node);
  EXPECT_EQ(guard.value, 102U);
  EXPECT_EQ(guard.name, "MADV_GUARD_INSTALL");
}

TEST(ParserExpressions, ReadsEveryProbe) {
  const Program program = parsed(
      "measure \"m\" { }\n"
      "expect vmas()\nexpect vmas(1, 2)\nexpect resident(1, 2)\nexpect perm(1)\nexpect value(1)\n"
      "expect soft_dirty(1, 2)\nexpect uffd_wp(1, 2)\n"
      "expect max_map_count()\nexpect faults(\"m\")\nexpect minflt(\"m\")\nexpect count(ptes_changed, \"m\")");
  const auto probe = [&](std::size_t i) -> const Probe& {
    return std::get<Probe>(node<Expect>(program, i).condition->node);
  };
  const ProbeKind kinds[] = {ProbeKind::vmas,   ProbeKind::vmas,       ProbeKind::resident, ProbeKind::perm,
                             ProbeKind::value,  ProbeKind::soft_dirty, ProbeKind::uffd_wp,  ProbeKind::max_map_count,
                             ProbeKind::faults, ProbeKind::minflt,     ProbeKind::count};
  const std::size_t arguments[] = {0, 2, 2, 1, 1, 2, 2, 0, 0, 0, 0};
  for (std::size_t i = 0; i < std::size(kinds); ++i) {
    EXPECT_EQ(probe(i + 1).kind, kinds[i]);
    EXPECT_EQ(probe(i + 1).arguments.size(), arguments[i]);
    EXPECT_EQ(probe(i + 1).measure, i < 8 ? "" : "m");
  }
  EXPECT_EQ(probe(11).counter, "ptes_changed");
}

}  // namespace
}  // namespace faultline::program
