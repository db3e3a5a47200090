// Model and kernel side by side: for every program, calls, failures, faults and shapes have to agree, row by row. The
// kernel is right. Skipped where QEMU or the kernel is missing.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>

#include "machine/machine.h"
#include "machine/vm/cache.h"
#include "needs_kernel.h"
#include "program/parser.h"

namespace faultline::machine {
namespace {

namespace fs = std::filesystem;

/// Programs that are not compared.
const std::map<std::string, std::string_view> kLeftOut{
    {"cases/map-limit.fl", "the limit's 65,530 mappings take an emulated processor too long"},
    {"differences/madvise-limit.fl", "and how many fit depends on what else is mapped"},
    {"numa-hints.fl", "no kernel passes over pages when asked"}};

std::vector<std::string> programs() {
  std::vector<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(FAULTLINE_PROGRAMS)) {
    if (entry.path().extension() != ".fl") continue;
    const std::string name = fs::relative(entry.path(), FAULTLINE_PROGRAMS).string();
    if (!kLeftOut.contains(name)) names.push_back(name);
  }
  std::ranges::sort(names);
  return names;
}

/// What the model has to be told of the machine.
std::string options_for(const std::string& program) { return program == "overcommit.fl" ? "+memory=256M" : ""; }

/// What would take an emulated processor long, shortened.
Settings settings_for(const std::string& program) {
  static const std::map<std::string, std::vector<std::pair<std::string, std::uint64_t>>> kShorter{
      {"atomic-populate.fl", {{"size", 1 << 20}, {"passes", 2}}},
      {"read-fault-threads.fl", {{"size", 256 << 10}}},
      {"seal-sweep.fl", {{"vmas", 8}, {"ranges", 50}}}};
  Settings settings;
  if (const auto found = kShorter.find(program); found != kShorter.end()) settings.params = found->second;
  return settings;
}

/// QEMU runs an atomic of x86-64 as a load and then a store. An untouched page then faults twice where a processor
/// faults once, and up to 6.12 a huge one is split.
enum class Atomics : std::uint8_t { as_on_a_processor, in_two_steps };

/// A system call whose copy into or out of the program's memory was stopped by a fault, or a measure block with such a
/// call. How often the kernel tries the rest of the copy again, byte by byte, depends on its copy routine and on the
/// processor, and is not modelled.
bool stopped_copying(const run::Row& model) {
  constexpr std::array<std::string_view, 4> kAccesses{"load(", "store(", "atomic(", "fetch("};
  const bool access =
      std::ranges::any_of(kAccesses, [&](std::string_view name) { return model.text.starts_with(name); });
  const Counters& counted = model.counted;
  return !access &&
         counted[Counter::fault_signal] + counted[Counter::fault_guard] + counted[Counter::fault_disabled] > 0;
}

/// Whose faults the kernel and the plugin count. clear_refs takes the agent's own pages along, and a userfaultfd's
/// handler is a thread of the agent: both fault for themselves, at least what the model says and more.
enum class Faults : std::uint8_t { of_the_program, of_the_agent_too };

/// Per call, as a kernel counts in half of a block's repetitions.
void expect_same_faults(const run::Row& model, const run::Row& kernel, Faults faults, const std::string& where) {
  if (model.counted_calls == 0 || kernel.counted_calls == 0) return;
  const auto of = [](const run::Row& row, Counter counter, const run::Row& other) {
    return row.counted[counter] * other.counted_calls;
  };
  if (faults == Faults::of_the_agent_too) {
    for (const Counter counter : {Counter::minor_faults, Counter::exceptions}) {
      EXPECT_LE(of(model, counter, kernel), of(kernel, counter, model)) << counter_name(counter) << ", " << where;
    }
    return;
  }
  EXPECT_EQ(of(model, Counter::minor_faults, kernel), of(kernel, Counter::minor_faults, model)) << "minor, " << where;
  const auto ours = of(model, Counter::exceptions, kernel);
  const auto theirs = of(kernel, Counter::exceptions, model);
  if (stopped_copying(model)) {
    EXPECT_LE(ours, theirs) << "exceptions, " << where;
  } else {
    EXPECT_EQ(ours, theirs) << "exceptions, " << where;
  }
}

void expect_same(const run::Row& model, const run::Row& kernel, Atomics atomics, Faults faults) {
  const std::string where = fmt::format("line {}: {}", model.line, model.text);
  EXPECT_EQ(model.calls, kernel.calls) << where;
  EXPECT_EQ(model.failures, kernel.failures) << where;
  if (atomics == Atomics::as_on_a_processor) expect_same_faults(model, kernel, faults, where);
  for (auto shape : {&run::Row::before, &run::Row::after}) {
    for (auto field : {&run::Shape::vmas, &run::Shape::present, &run::Shape::huge}) {
      if (field == &run::Shape::huge && atomics == Atomics::in_two_steps) continue;
      const auto& a = model.*shape.*field;
      const auto& b = kernel.*shape.*field;
      if (a && b) {
        EXPECT_EQ(*a, *b) << where;
      }
    }
  }
}

void expect_agreement(const std::string& name, const std::string& kernel) {
  SCOPED_TRACE(name);
  const auto text = vm::read_whole(fs::path(FAULTLINE_PROGRAMS) / name);
  ASSERT_TRUE(text);
  const auto program = program::parse(*text, name);
  ASSERT_TRUE(program);
  const run::Report model = (*make_machine("model:" + kernel + options_for(name)))->run(*program, settings_for(name));
  const run::Report report = (*make_machine("vm:" + kernel))->run(*program, settings_for(name));
  ASSERT_EQ(report.ending, model.ending) << report.detail;
  for (const run::Check& check : report.checks) {
    EXPECT_NE(check.status, run::CheckStatus::failed) << check.text << ": " << check.detail;
  }
  ASSERT_EQ(model.rows.size(), report.rows.size());
  const bool odd = text->contains("atomic(") && !kernel.starts_with("arm64/");
  const Atomics atomics = odd ? Atomics::in_two_steps : Atomics::as_on_a_processor;
  const bool tracks = text->contains("clear_refs(") || text->contains("userfaultfd(");
  const Faults faults = tracks ? Faults::of_the_agent_too : Faults::of_the_program;
  for (std::size_t i = 0; i < model.rows.size(); ++i) {
    expect_same(model.rows[i], report.rows[i], atomics, faults);
  }
}

class Agreement : public testing::TestWithParam<std::string> {};

TEST_P(Agreement, OfModelAndKernelOnFaultsAndShapesOfEveryProgram) {
  const std::string& kernel = GetParam();
  NEEDS(kernel);
  for (const std::string& name : programs()) expect_agreement(name, kernel);
}

// The slowest first.
INSTANTIATE_TEST_SUITE_P(Kernels, Agreement, testing::Values("arm64/6.12", "7.3", "6.12", "6.1", "5.10"),
                         [](const auto& test) { return test_name(test.param); });

}  // namespace
}  // namespace faultline::machine
