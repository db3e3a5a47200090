// A table survives being written and read; one that is damaged is refused with the place and what was expected there.
#include "cost/table_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cost/built_in.h"

namespace faultline::cost {
namespace {

using testing::HasSubstr;

CostTable table() {
  CostTable table{"arm64/6.12", "Linux \"6.12\"", {}};
  OperationCost cost;
  cost.fixed = 812.5;
  cost.rows = 40;
  cost.error = {0.0125, 0.09, 12};
  cost.each[std::to_underlying(Counter::splits)] = 3096.3;
  cost.trained.set(std::to_underlying(Counter::splits));
  cost.trained.set(std::to_underlying(Counter::merges));
  table.operations[std::to_underlying(Operation::madvise_dontneed)] = cost;
  cost = {};
  cost.fixed = 317;
  cost.rows = 1;
  table.operations[std::to_underlying(Operation::getppid)] = cost;
  return table;
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string error_of(const std::string& text) {
  const auto read = read_table(text);
  EXPECT_FALSE(read);
  return read ? "" : read.error();
}

TEST(TableJson, SurvivesBeingWrittenAndRead) {
  const auto read = read_table(table_json(table()));
  ASSERT_TRUE(read) << read.error();
  EXPECT_EQ(*read, table());
}

TEST(TableJson, NamesTheVersionThatItCannotRead) {
  EXPECT_EQ(error_of(replaced(table_json(table()), "\"faultline_costs\":1", "\"faultline_costs\":2")),
            "faultline_costs: it is of version 2, expected 1; calibrate again");
}

TEST(TableJson, NamesWhatIsMissingOrWrong) {
  const std::string good = table_json(table());
  EXPECT_THAT(error_of("{}"), HasSubstr("the document has no \"faultline_costs\""));
  EXPECT_THAT(error_of("[]"), HasSubstr("the document: expected an object"));
  EXPECT_THAT(error_of(good.substr(0, good.size() / 2)), HasSubstr("not JSON: at byte"));
  EXPECT_EQ(error_of(replaced(good, "\"splits\"", "\"splats\"")),
            "operations[\"madvise(MADV_DONTNEED)\"].each: no counter is named \"splats\"");
  EXPECT_EQ(error_of(replaced(good, "\"getppid\"", "\"getpid\"")), "operations: no operation is named \"getpid\"");
  EXPECT_EQ(error_of(replaced(good, "3096.3", "-1")),
            "operations[\"madvise(MADV_DONTNEED)\"].each.splits: expected a number that is not negative");
  EXPECT_EQ(error_of(replaced(good, "3096.3", "\"many\"")),
            "operations[\"madvise(MADV_DONTNEED)\"].each.splits: expected a number that is not negative");
  EXPECT_EQ(error_of(replaced(good, "\"worst\"", "\"worse\"")),
            "operations[\"madvise(MADV_DONTNEED)\"].held_out has no \"worst\"");
  EXPECT_EQ(error_of(replaced(good, "\"arm64/6.12\"", "12")), "profile: expected a string");
  EXPECT_THAT(error_of(replaced(good, "3096.3", "1e999")), HasSubstr("out of range"));
}

TEST(BuiltInTables, ReadAsTheyWereWritten) {
  for (const CostTable& built_in : built_in_tables()) {
    const auto read = read_table(table_json(built_in));
    ASSERT_TRUE(read) << built_in.profile << ": " << read.error();
    EXPECT_EQ(*read, built_in) << built_in.profile;
  }
}

TEST(BuiltInTables, AreOneForEachKernelThatTheDocumentationNames) {
  std::vector<std::string> profiles;
  for (const CostTable& built_in : built_in_tables()) profiles.push_back(built_in.profile);
  EXPECT_THAT(profiles, testing::UnorderedElementsAre("5.10", "6.1", "6.12", "7.3", "arm64/5.10", "arm64/6.12"));
}

TEST(OperationNames, AreDistinctAndReadBack) {
  for (std::size_t i = 0; i < kOperations; ++i) {
    EXPECT_EQ(operation_named(operation_name(static_cast<Operation>(i))), static_cast<Operation>(i));
  }
  EXPECT_EQ(operation_named("mprotekt"), std::nullopt);
}

}  // namespace
}  // namespace faultline::cost
