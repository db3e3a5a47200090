// faultline run --rounds N: everything several times, interleaved.
#include <fmt/format.h>

#include <algorithm>

#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/run_session.h"
#include "report/rounds.h"

namespace faultline::cli {
namespace {

struct Task {
  const Source* source;
  std::vector<std::pair<std::string, Setting>> set;
  machine::Machine* machine;
  std::pair<std::size_t, std::size_t> place;  // its comparison, and its column there
  report::Rounds rounds;
  ExitStatus status = ExitStatus::ok;

  bool is_done() const {
    if (rounds.empty()) return false;
    // What cannot be run will not be the next time; what was counted will be counted the same.
    return status == ExitStatus::misuse || machine->id().kind != "live";
  }
};

}  // namespace

void RunSession::run_rounds(const std::vector<Source>& sources, const Machines& machines, const Sweep& sweep,
                            Interrupt& interrupt) {
  std::vector<report::Comparison> comparisons;
  std::vector<Task> tasks;
  for (const Source& source : sources) {
    for (std::size_t i = 0; i < sweep.runs(); ++i) {
      const Settings settings = sweep.at(i);
      for (std::size_t machine = 0; machine < machines.size(); ++machine) {
        tasks.push_back({&source, settings, machines[machine].get(), {comparisons.size(), machine}, {}});
      }
      comparisons.push_back(comparison_of(source, settings));
    }
  }
  for (std::uint32_t round = 0; round < output_.rounds && !interrupt.came(); ++round) {
    for (Task& task : tasks) {
      progress_.show(fmt::format("[{}/{}] {} on {}", ++started_, total_, task.source->path, task.machine->name()));
      if (task.is_done() || interrupt.came()) continue;
      run::Report report = task.machine->run(task.source->program, machine_settings(task.set, interrupt));
      if (interrupt.came() && report.ending != run::Ending::completed) break;
      task.status = worse(task.status, status_of(report));
      task.rounds.add(std::move(report));
    }
    std::ranges::reverse(tasks);
  }
  progress_.clear();
  std::ranges::sort(tasks, {}, &Task::place);
  for (const Task& task : tasks) {
    if (task.rounds.empty()) continue;
    run::Report report = task.rounds.report();
    status_ = worse(status_, task.status);
    const bool told_in_table = output_.json_path != "-" && task.status != ExitStatus::misuse;
    if (report.ending != run::Ending::completed && !told_in_table) {
      fmt::print(stderr, "{}", ending_message(*task.source, report));
    }
    comparisons[task.place.first].reports.push_back(std::move(report));
  }
  std::erase_if(comparisons, [](const report::Comparison& comparison) { return comparison.reports.empty(); });
  const std::lock_guard lock(mutex_);
  comparisons_ = std::move(comparisons);
  if (interrupt.came()) return;
  for (; printed_ < comparisons_.size(); ++printed_) print_table(comparisons_[printed_]);
}

}  // namespace faultline::cli
