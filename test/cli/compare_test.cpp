// faultline compare as a person runs it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "command.h"

namespace faultline::cli {
namespace {

using testing::HasSubstr;

class CompareCommand : public testing::Test {
 protected:
  std::string recorded(const std::string& machine, const std::string& name, std::vector<std::string> more = {}) {
    const std::string json = folder_.path(name).string();
    std::vector<std::string> arguments{"run", program_, "--on", machine, "--json", json};
    arguments.insert(arguments.end(), more.begin(), more.end());
    EXPECT_EQ(folder_.run(arguments).status, 0);
    return json;
  }

  Folder folder_;
  std::string program_ = folder_.file("p.fl",
                                      "# What does a page cost?\n"
                                      "a = mmap(NULL, PAGE, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0)\n"
                                      "store(a, PAGE)\n"
                                      "mprotect(a, PAGE, PROT_READ)\n"
                                      "mprotect(a, PAGE, PROT_READ|PROT_WRITE)\n"
                                      "store(a, PAGE)\n");
};

TEST_F(CompareCommand, ExitsWithOneWhereModelsCountDifferently) {
  const Outcome outcome =
      folder_.run({"compare", recorded("model:5.10", "old.json"), recorded("model:6.12", "new.json")});
  EXPECT_EQ(outcome.status, 1) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("line 6   store(a, PAGE): "));
  EXPECT_THAT(outcome.out, HasSubstr("faults, as exceptions 1 → 0"));
}

TEST_F(CompareCommand, ExitsWithZeroWhereModelsCountTheSame) {
  const std::string json = recorded("model:6.12", "one.json");
  const Outcome outcome = folder_.run({"compare", json, json});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("0 rows different, 0 not proven, 5 counted the same, 0 not compared\n"));
}

TEST_F(CompareCommand, TakesBothSidesFromAFileOfInterleavedRounds) {
  const std::string json = recorded("live", "both.json", {"--on", "live", "--rounds", "3"});
  const Outcome outcome = folder_.run({"compare", json, "--json", "-"});
  // Three against three cannot prove anything: the least p-value is 0.1.
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  const auto document = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(document["not_proven"], 5);
  EXPECT_EQ(document["runs"][0]["rows"][0]["first"]["n"], 3);
}

TEST_F(CompareCommand, RefusesWhatCannotBeCompared) {
  const auto error = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "compare");
    const Outcome outcome = folder_.run(arguments);
    EXPECT_EQ(outcome.status, 2) << outcome.out;
    return outcome.err;
  };
  const std::string model = recorded("model:6.12", "model.json");
  EXPECT_THAT(error({model, recorded("live", "live.json")}), HasSubstr("no row of one side could be compared"));
  EXPECT_THAT(error({model}), HasSubstr("it holds one side only"));
  EXPECT_THAT(error({model, folder_.path("none.json").string()}), HasSubstr("No such file"));
  EXPECT_THAT(error({model, folder_.path("").string()}), HasSubstr("it is a directory"));
  EXPECT_THAT(error({model, program_}), HasSubstr("p.fl: not JSON: at byte 1"));
  EXPECT_THAT(error({model, folder_.file("empty.json", "")}), HasSubstr("empty.json: "));
  EXPECT_FALSE(error({}).empty());
}

}  // namespace
}  // namespace faultline::cli
