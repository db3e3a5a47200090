#include "cli/run_session.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <ctime>
#include <span>

#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/output_file.h"
#include "cli/side_by_side.h"
#include "report/function_table.h"
#include "report/json.h"
#include "report/law_table.h"
#include "report/mail.h"
#include "report/text_table.h"

namespace faultline::cli {
namespace {

std::string now() {
  const std::time_t seconds = std::time(nullptr);
  std::tm local{};
  std::array<char, 64> text{};
  if (localtime_r(&seconds, &local) == nullptr) return {};
  std::string date(text.data(), std::strftime(text.data(), text.size(), "%FT%T%z", &local));
  // RFC 3339 has a colon in the offset, strftime has not.
  if (date.size() > 2) date.insert(date.size() - 2, ":");
  return date;
}

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

}  // namespace

machine::Settings RunSession::machine_settings(const Settings& set, const Interrupt& interrupt) const {
  machine::Settings settings;
  settings.stop = interrupt.stop_token();
  settings.time_limit = output_.time_limit;
  settings.costs = output_.costs;
  settings.attribute = output_.functions ? machine::Attribute::functions : machine::Attribute::nothing;
  for (const auto& [name, setting] : set) settings.params.emplace_back(name, setting.value);
  return settings;
}

report::Comparison RunSession::comparison_of(const Source& source, const Settings& set) {
  return {source.path, source.program.answers, param_values(source.program, set), {}, source.notes};
}

ExitStatus RunSession::run(const std::vector<Source>& sources, const Machines& machines, const Sweep& sweep) {
  total_ = sources.size() * machines.size() * sweep.runs() * output_.rounds;
  Interrupt interrupt([this] {
    const std::lock_guard lock(mutex_);
    print_rest();
  });
  if (output_.rounds > 1) run_rounds(sources, machines, sweep, interrupt);
  for (const Source& source : sources) {
    for (std::size_t i = 0; output_.rounds == 1 && i < sweep.runs() && !interrupt.came(); ++i) {
      run_one(source, machines, sweep.at(i), interrupt);
    }
  }
  interrupt.stand_down();
  progress_.clear();
  if (interrupt.came()) {
    print_rest();
    return ExitStatus::interrupted;
  }
  if (output_.laws == Laws::shown && output_.json_path != "-") print_laws(sources.size());
  const bool written = write_json() && write_stacks();
  return written ? status_ : ExitStatus::misuse;
}

void RunSession::run_one(const Source& source, const Machines& machines, const Settings& settings,
                         Interrupt& interrupt) {
  {
    const std::lock_guard lock(mutex_);
    comparisons_.push_back(comparison_of(source, settings));
  }
  SideBySide side_by_side(machines, source.program, machine_settings(settings, interrupt));
  for (const auto& machine : machines) {
    progress_.show(fmt::format("[{}/{}] {} on {}", ++started_, total_, source.path, machine->name()));
    run::Report report = side_by_side.report(*machine);
    progress_.clear();
    // A machine that the interrupt broke off has nothing to say, unless it saved some rows.
    if (interrupt.came() && report.rows.empty()) return;
    status_ = worse(status_, status_of(report));
    const bool told_in_table = output_.json_path != "-" && status_of(report) != ExitStatus::misuse;
    if (report.ending != run::Ending::completed && !told_in_table && !interrupt.came()) {
      fmt::print(stderr, "{}", ending_message(source, report));
    }
    const std::lock_guard lock(mutex_);
    comparisons_.back().reports.push_back(std::move(report));
    if (interrupt.came()) return;
  }
  const std::lock_guard lock(mutex_);
  print_table(comparisons_.back());
  printed_ = comparisons_.size();
}

void RunSession::print_table(const report::Comparison& comparison) {
  if (output_.json_path == "-") return;
  if (printed_ > 0) std::fputc('\n', stdout);
  std::string table = output_.format == Format::mail ? report::mail_text(comparison, output_.counted, command_line())
                                                     : report::text_table(comparison, output_.counted, output_.colour);
  if (output_.functions) table += report::function_table(comparison, output_.functions->line, output_.colour);
  std::fwrite(table.data(), 1, table.size(), stdout);
  std::fflush(stdout);
}

// Without rounds, and with them, the comparisons of a program stand one after the other.
void RunSession::print_laws(std::size_t programs) {
  const std::size_t runs = comparisons_.size() / programs;
  for (std::size_t i = 0; i < programs; ++i) {
    fmt::print("\n{}", report::law_table(std::span(comparisons_).subspan(i * runs, runs), output_.colour));
  }
}

void RunSession::print_rest() {
  fmt::print(stderr, "\nfaultline: interrupted; this is what was obtained until then\n");
  if (!comparisons_.empty() && comparisons_.back().reports.empty()) comparisons_.pop_back();
  for (; printed_ < comparisons_.size(); ++printed_) print_table(comparisons_[printed_]);
  write_json();
}

bool RunSession::write_json() {
  if (output_.json_path.empty()) return true;
  const report::JsonContext context{now(), host_name(), command_line(), version()};
  const auto written = write_file(output_.json_path, report::json(comparisons_, context));
  if (!written) complain(written.error());
  return written.has_value();
}

bool RunSession::write_stacks() {
  if (!output_.functions) return true;
  std::string folded;
  for (const report::Comparison& comparison : comparisons_) folded += report::folded_stacks(comparison);
  const auto write = [](const std::string& path, std::string_view text) {
    if (path.empty()) return true;
    const auto written = write_file(path, text);
    if (!written) complain(written.error());
    return written.has_value();
  };
  const bool whole = write(output_.functions->folded_path, folded);
  const std::string callgrind =
      comparisons_.empty() || comparisons_.front().reports.empty() ? "" : report::callgrind(comparisons_.front(), 0);
  return write(output_.functions->callgrind_path, callgrind) && whole;
}

}  // namespace faultline::cli
