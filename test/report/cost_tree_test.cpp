// Costs by the calls that led to them, as other tools read them.
#include "report/cost_tree.h"

#include <gtest/gtest.h>

namespace faultline::report {
namespace {

/// main calls fill from two of its lines, and fill costs something at two of its own.
std::vector<CostNode> example() {
  return {{.function = "main", .file = "a.c", .object = "/a", .line = 10, .calls = 2},
          {.parent = 0, .function = "fill", .file = "a.c", .object = "/a", .line = 3, .cost = 5, .calls = 2},
          {.function = "main", .file = "a.c", .object = "/a", .line = 11, .calls = 1},
          {.parent = 2, .function = "fill", .file = "a.c", .object = "/a", .line = 4, .cost = 7, .calls = 1}};
}

TEST(Folded, AddsUpWhatHasTheSamePath) { EXPECT_EQ(folded(example(), "a"), "a;main;fill 12\n"); }

TEST(Folded, KeepsNamesFromBreakingTheFormat) {
  EXPECT_EQ(folded({{.function = "f;g\nh", .cost = 1}}, "a"), "a;f:g?h 1\n");
}

TEST(Callgrind, TellsLinesAndCallsApart) {
  EXPECT_EQ(callgrind(example(), {"a 1", "Faults", "page faults"}),
            "# callgrind format\nversion: 1\ncreator: faultline\ncmd: a 1\npositions: line\n"
            "event: Faults : page faults\nevents: Faults\nsummary: 12\n"
            "\nob=/a\nfl=a.c\nfn=fill\n3 5\n4 7\n"
            "\nob=/a\nfl=a.c\nfn=main\n"
            "cob=/a\ncfi=a.c\ncfn=fill\ncalls=2 0\n10 5\n"
            "cob=/a\ncfi=a.c\ncfn=fill\ncalls=1 0\n11 7\n");
}

}  // namespace
}  // namespace faultline::report
