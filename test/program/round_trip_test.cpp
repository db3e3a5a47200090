// Printing and parsing undo each other, for programs of every kind.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <random>
#include <set>
#include <sstream>

#include "program/equal.h"
#include "program/parser.h"
#include "program/printer.h"
#include "random_program.h"

namespace faultline::program {
namespace {

std::vector<std::uint32_t> random_choices(std::uint32_t seed, std::size_t count) {
  std::mt19937 random(seed);
  std::vector<std::uint32_t> choices(count);
  for (auto& choice : choices) choice = static_cast<std::uint32_t>(random());
  return choices;
}

/// Which alternatives of the tree a program holds, by name.
class Census {
 public:
  std::set<std::string> seen;

  void block(const Block& block) {
    for (const Statement& statement : block) {
      note("statement", statement.node.index());
      std::visit([this](const auto& node) { visit(node); }, statement.node);
    }
  }

 private:
  void note(const std::string& what, std::size_t which) { seen.insert(what + std::to_string(which)); }
  void expr(const ExprPtr& expr) {
    if (!expr) return;
    note("expr", expr->node.index());
    if (const auto* u = std::get_if<Unary>(&expr->node)) {
      note("unary", static_cast<std::size_t>(u->op));
      this->expr(u->operand);
    } else if (const auto* b = std::get_if<Binary>(&expr->node)) {
      note("binary", static_cast<std::size_t>(b->op));
      this->expr(b->left);
      this->expr(b->right);
    } else if (const auto* p = std::get_if<Probe>(&expr->node)) {
      note("probe", static_cast<std::size_t>(p->kind));
    }
  }
  template <class Node>
  void visit(const Node& node) {
    if constexpr (requires { node.body; }) block(node.body);
    if constexpr (requires { node.value; }) expr(node.value);
    if constexpr (requires { node.count; }) expr(node.count);
    if constexpr (requires { node.condition; }) expr(node.condition);
    if constexpr (requires { node.arguments; }) {
      for (const auto& argument : node.arguments) expr(argument);
      note("sys", static_cast<std::size_t>(node.sys));
    }
    if constexpr (requires { node.assertion; }) {
      if (node.assertion) note("assertion", node.assertion->index());
    }
    if constexpr (requires { node.kind; }) note("access", static_cast<std::size_t>(node.kind));
  }
};

TEST(RoundTrip, ParsingAPrintedProgramGivesAnEqualOneThatPrintsTheSame) {
  rc::check([](const std::vector<std::uint32_t>& choices) {
    const Program program = random_program(choices);
    const std::string text = print(program);
    const auto parsed = parse(text, "printed.fl");
    if (!parsed) RC_FAIL(render(parsed.error()) + text);
    RC_ASSERT(equal(program, *parsed));
    RC_ASSERT(print(*parsed) == text);
  });
}

TEST(RoundTrip, HoldsForLargeProgramsWhichTogetherHoldEveryKindOfNode) {
  Census census;
  for (std::uint32_t seed = 0; seed < 2000; ++seed) {
    const Program program = random_program(random_choices(seed, 400));
    census.block(program.body);
    const std::string text = print(program);
    const auto parsed = parse(text, "printed.fl");
    ASSERT_TRUE(parsed) << render(parsed.error()) << text;
    ASSERT_TRUE(equal(program, *parsed)) << text;
    ASSERT_EQ(print(*parsed), text);
  }
  std::set<std::string> all;
  const auto want = [&all](const std::string& what, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) all.insert(what + std::to_string(i));
  };
  want("statement", std::variant_size_v<decltype(Statement::node)>);
  want("expr", std::variant_size_v<decltype(Expr::node)>);
  want("assertion", std::variant_size_v<ResultAssertion>);
  want("unary", 3);
  want("binary", 18);
  want("probe", 15);
  want("access", 4);
  want("sys", static_cast<std::size_t>(Sys::count_));
  EXPECT_EQ(census.seen, all);
}

TEST(Equal, TellsProgramsApartThatDifferInOneThing) {
  const std::vector<std::string> programs = {
      "",
      "# answers",
      "let a = 1",
      "let a = 2",
      "let b = 1",
      "param a = 1",
      "let a = 1; a = 1",
      "let a = 1; let b = a",
      "let a = PAGE",
      "let a = -1",
      "let a = ~1",
      "let a = 1 + 2",
      "let a = 1 - 2",
      "let a = 2 + 1",
      "let a = vmas()",
      "let a = vmas(1, 2)",
      "let a = resident(1, 2)",
      "let a = huge(1, 2)",
      "let a = state(1, 2)",
      "munlockall()",
      "x = munlockall()",
      "y = munlockall()",
      "getppid()",
      "munlockall() = 0",
      "munlockall() = -1 ENOMEM",
      "munlockall() = -1 EINVAL",
      "memfd_create(\"a\")",
      "memfd_create(\"b\")",
      "memfd_create(\"a\", 0)",
      "load(1)",
      "store(1)",
      "store(1, 2)",
      "store(1, 2, 3)",
      "store(1, 2, 3, 4)",
      "store(1) at 2",
      "store(1) = 0",
      "store(1) = SIGSEGV",
      "store(1) = SIGBUS",
      "store(1) = SIGSEGV SEGV_MAPERR",
      "store(1) = SIGSEGV SEGV_ACCERR",
      "code(1)",
      "repeat 1 { }",
      "repeat 1 { load(1) }",
      "for i in 0..1 { }",
      "for j in 0..1 { }",
      "for i in 1..1 { }",
      "for i in 0..2 { }",
      "threads 1 { }",
      "child { }",
      "child \"a\" { }",
      "child \"a\" { }; exit(\"a\")",
      "measure \"a\" { }",
      "measure \"b\" { }",
      "measure \"a\" repeat 1 { }",
      "measure \"a\" { }; expect faults(\"a\")",
      "measure \"a\" { }; expect minflt(\"a\")",
      "measure \"a\" { }; expect count(splits, \"a\")",
      "measure \"a\" { }; expect count(merges, \"a\")",
      "expect 1",
      "expect 1 on model",
      "expect 1 on live",
      "expect 1 on model:6.1",
      "expect 1 on model:>=6.1",
      "expect 1 on model:<6.1",
      "expect 1 on model:arm64/6.1",
      "expect 1 on model:6.1+upgrade=exclusive",
      "expect 1 on model, live",
  };
  for (std::size_t i = 0; i < programs.size(); ++i) {
    const auto a = parse(programs[i], "a");
    ASSERT_TRUE(a) << render(a.error());
    for (std::size_t j = 0; j < programs.size(); ++j) {
      const auto b = parse(programs[j], "b");
      ASSERT_TRUE(b) << render(b.error());
      EXPECT_EQ(equal(*a, *b), i == j) << programs[i] << "\n---\n" << programs[j];
    }
  }
}

}  // namespace
}  // namespace faultline::program
