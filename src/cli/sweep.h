#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <string>
#include <utility>
#include <vector>

#include "program/program.h"
#include "report/comparison.h"

/// `--set name=v1,v2`: the runs that it asks for.
namespace faultline::cli {

/// One value of a param and how it was written.
struct Setting {
  std::string text;
  std::uint64_t value = 0;
};

/// All values that one `--set` gives a param; never empty.
struct ParamSweep {
  std::string name;
  std::vector<Setting> values;
};

/// More runs than this are a mistake in the command.
inline constexpr std::size_t kMostRuns = 10'000;

/// Every combination of the values of several params, the last param changing fastest. Without params one run.
class Sweep {
 public:
  /// Reads the arguments of `--set`. The error names the argument and says what was expected.
  static std::expected<Sweep, std::string> parse(const std::vector<std::string>& arguments);

  std::size_t runs() const { return runs_; }
  /// The name and setting of each param in run number `run`, which is below runs().
  std::vector<std::pair<std::string, Setting>> at(std::size_t run) const;
  const std::vector<ParamSweep>& params() const { return params_; }

 private:
  std::vector<ParamSweep> params_;
  std::size_t runs_ = 1;
};

/// Nothing when the program has every param that is set, else a sentence with the ones that it has.
std::string missing_param(const program::Program& program, const Sweep& sweep);

/// The values of all params of the program in a run: those set, and for the others what the program says. A value that
/// cannot be known before the run is left out.
std::vector<report::ParamValue> param_values(const program::Program& program,
                                             const std::vector<std::pair<std::string, Setting>>& settings);

}  // namespace faultline::cli
