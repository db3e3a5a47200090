// faultline compare A.json [B.json]
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <expected>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>

#include "cli/commands.h"
#include "cli/output_file.h"
#include "report/compare_json.h"
#include "report/compare_text.h"

namespace faultline::cli {
namespace {

constexpr const char* kCompareFooter =
    R"(Rows are judged by the Mann-Whitney test, corrected for being many; counted rows are compared exactly.
Timings differ between processes by more than within one: record with --rounds, so that a sample is a process.
One file is compared with itself where it holds two sides: two programs, or two machines.

Examples:
  faultline run cycle.fl --on live --rounds 50 --json before.json
  faultline compare before.json after.json
  faultline run old.fl new.fl --on live --rounds 50 --json both.json; faultline compare both.json

Exit status: 0 no difference was proven; 1 at least one row is different; 2 misuse, or no row could be compared.)";

struct CompareOptions {
  std::string first;
  std::string second;
  std::string json;
  bool within_process = false;
  bool brief = false;
};

using Runs = std::vector<report::StoredRun>;

std::expected<Runs, std::string> load_runs(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    return std::unexpected(fmt::format("cannot read {}: it is a directory; expected JSON", path));
  }
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf())) {
    return std::unexpected(fmt::format("cannot read {}: {}", path, errno != 0 ? std::strerror(errno) : "it is empty"));
  }
  auto runs = report::read_runs(text.view());
  if (!runs) return std::unexpected(fmt::format("{}: {}", path, runs.error()));
  return runs;
}

std::expected<std::pair<Runs, Runs>, std::string> load_sides(const CompareOptions& options) {
  auto first = load_runs(options.first);
  if (!first) return std::unexpected(first.error());
  if (options.second.empty()) {
    auto sides = report::two_sides(std::move(*first));
    if (!sides) return std::unexpected(fmt::format("{}: {}", options.first, sides.error()));
    return sides;
  }
  auto second = load_runs(options.second);
  if (!second) return std::unexpected(second.error());
  return std::pair{std::move(*first), std::move(*second)};
}

ExitStatus compare(const CompareOptions& options) {
  auto sides = load_sides(options);
  if (!sides) return complain(sides.error());
  const auto independent = options.within_process ? report::Independent::samples : report::Independent::processes;
  const report::RunComparison comparison =
      report::compare_runs(std::move(sides->first), std::move(sides->second), independent);
  const report::SideNames names{options.first, options.second.empty() ? options.first : options.second};
  if (options.json != "-") {
    const std::string text =
        report::compare_text(comparison, names, options.brief ? report::Detail::table_only : report::Detail::summaries,
                             report::colour_for(STDOUT_FILENO));
    std::fwrite(text.data(), 1, text.size(), stdout);
  }
  if (!options.json.empty()) {
    const auto written = write_file(options.json, report::compare_json(comparison, names));
    if (!written) return complain(written.error());
  }
  if (comparison.comparable() == 0) return complain("no row of one side could be compared with one of the other");
  return comparison.count(report::Outcome::different) > 0 ? ExitStatus::failed : ExitStatus::ok;
}

}  // namespace

void add_compare(CLI::App& app, ExitStatus& status) {
  auto options = std::make_shared<CompareOptions>();
  CLI::App& command = *app.add_subcommand("compare", "Say which rows of two recorded runs differ");
  command.add_option("A", options->first, "JSON of faultline run --json, or of Google Benchmark")->required();
  command.add_option("B", options->second, "The same, held against A; without it, the two sides that A holds");
  command
      .add_option("--json", options->json, "Write the comparison as JSON; - is standard output, instead of the table")
      ->type_name("FILE");
  command.add_flag("--within-process", options->within_process,
                   "Take the samples of one process as independent: verdicts then hold for these processes only");
  command.add_flag("--brief", options->brief, "Print the tables only, no summary per row");
  command.footer(kCompareFooter);
  command.callback([options, &status] { status = compare(*options); });
}

}  // namespace faultline::cli
