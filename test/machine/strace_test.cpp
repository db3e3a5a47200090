// Real logs of strace, imported and run on a model: every recorded result holds.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "harness.h"
#include "program/strace.h"

namespace faultline::machine::test {
namespace {

std::string read_log(const std::string& name) {
  std::ostringstream text;
  text << std::ifstream(std::string(FAULTLINE_STRACE_LOGS) + "/" + name, std::ios::binary).rdbuf();
  return text.str();
}

struct Log {
  std::string name;
  std::size_t processes;
  std::size_t calls;  // of all processes
};

class RealLogs : public testing::TestWithParam<Log> {};

TEST_P(RealLogs, HoldOnTheModel) {
  const auto import = program::import_strace(read_log(GetParam().name), GetParam().name);
  ASSERT_TRUE(import) << program::render(import.error());
  EXPECT_EQ(import->processes.size(), GetParam().processes);
  std::size_t calls = 0;
  for (const program::StraceProcess& process : import->processes) {
    calls += process.calls;
    auto model = make_machine("model:6.18");
    ASSERT_TRUE(model);
    const run::Report report = (*model)->run(process.program, checked());
    EXPECT_EQ(problems(report), "") << "process " << process.id;
    EXPECT_FALSE(report.checks.empty()) << "process " << process.id;
  }
  EXPECT_EQ(calls, GetParam().calls);
}

// How many calls of memory management each log has was counted with grep.
INSTANTIATE_TEST_SUITE_P(Strace, RealLogs,
                         testing::Values(Log{"ls.log", 1, 39}, Log{"ls-times.log", 1, 39}, Log{"ls-paths.log", 1, 39},
                                         Log{"python3.log", 1, 45}, Log{"gcc.log", 3, 137},
                                         Log{"gcc-processes.log", 3, 137}, Log{"node.log", 1, 242},
                                         Log{"luajit.log", 1, 51}, Log{"threads.log", 2, 54},
                                         Log{"threads-wild.log", 2, 54}, Log{"memfd.log", 1, 27}),
                         [](const auto& test) { return "Log" + std::to_string(test.index); });

}  // namespace
}  // namespace faultline::machine::test
