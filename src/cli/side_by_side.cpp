#include "cli/side_by_side.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>

namespace faultline::cli {

run::Report SideBySide::report(machine::Machine& machine) {
  if (machine.beside() == machine::Beside::nothing) return machine.run(program_, settings_);
  if (!reports_.contains(&machine)) run_those_beside_others();
  return std::move(reports_.at(&machine));
}

void SideBySide::run_those_beside_others() {
  std::vector<machine::Machine*> waiting;
  for (const auto& machine : machines_) {
    if (machine->beside() == machine::Beside::others) waiting.push_back(machine.get());
  }
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  const auto work = [&] {
    for (std::size_t i = next++; i < waiting.size(); i = next++) {
      run::Report report = waiting[i]->run(program_, settings_);
      const std::lock_guard lock(mutex);
      reports_.insert_or_assign(waiting[i], std::move(report));
    }
  };
  const std::size_t threads = std::min<std::size_t>(waiting.size(), std::max(1U, std::thread::hardware_concurrency()));
  std::vector<std::jthread> workers;
  for (std::size_t i = 1; i < threads; ++i) workers.emplace_back(work);
  work();
}

}  // namespace faultline::cli
