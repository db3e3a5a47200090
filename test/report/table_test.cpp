// One table in three forms.
#include "report/table.h"

#include <gtest/gtest.h>

namespace faultline::report {
namespace {

Table example() {
  return {
      {{"site", "site"}, {"", "pages", Align::right}, {"pages_from", ""}, {"times", "times", Align::right}},
      {{"main, a.c:1", "4–7", std::uint64_t{4}, std::uint64_t{1234}}, {"say \"hi\"\nthere", {}, {}, std::uint64_t{0}}}};
}

TEST(Table, ForATerminalHasNoZeroesAndNoControlCharacters) {
  EXPECT_EQ(table_text(example(), 5, Colour::off),
            "site             pages   times\n"
            "main, a.c:1        4–7   1,234\n"
            "say \"hi\"?there\n");
}

TEST(Table, SaysHowManyLinesWereLeftOut) {
  EXPECT_EQ(table_text(example(), 1, Colour::off),
            "site          pages   times\n"
            "main, a.c:1     4–7   1,234\n"
            "  … and 1 more\n");
  EXPECT_EQ(table_text({example().columns, {}}, 1, Colour::off), "");
}

TEST(Table, AsCsvIsQuotedAsRfc4180HasIt) {
  EXPECT_EQ(table_csv(example()),
            "site,pages_from,times\n"
            "\"main, a.c:1\",4,1234\n"
            "\"say \"\"hi\"\"\nthere\",,0\n");
}

TEST(Table, AsJsonIsAnArrayOfObjects) {
  EXPECT_EQ(dump(table_json(example())), R"([{"site":"main, a.c:1","pages_from":4,"times":1234},)"
                                         R"({"site":"say \"hi\"\nthere","pages_from":null,"times":0}])");
}

}  // namespace
}  // namespace faultline::report
