#include "check/hunt.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "check/draw.h"

namespace faultline::check {
namespace {

using Clock = std::chrono::steady_clock;

/// The programs of a batch depend on the seed and its number alone.
std::vector<Drawn> draw_batch(const Hunt& asked, std::uint64_t batch) {
  const std::uint64_t first = batch * asked.together;
  const std::uint64_t count =
      asked.seconds ? asked.together : std::min(asked.together, asked.programs - std::min(first, asked.programs));
  Random seeds(asked.seed);
  Random random(seeds.next() ^ Random(batch).next());
  std::vector<Drawn> programs;
  for (std::uint64_t i = 0; i < count; ++i) programs.push_back(draw(random, asked.operations, asked.atomics));
  return programs;
}

class Pack {
 public:
  explicit Pack(const Hunt& asked) : asked_(asked) {}

  std::expected<Catch, std::string> run() {
    {
      std::vector<std::jthread> workers;
      const unsigned count = std::max(asked_.workers, 1U);
      running_ = count;
      while (workers.size() < count) workers.emplace_back([this] { work(); });
      watch();
    }
    if (found_) catch_.first = std::move(found_);
    if (!catch_.first && error_) return std::unexpected(*error_);
    return std::move(catch_);
  }

 private:
  void watch() {
    std::unique_lock lock(mutex_);
    while (running_ > 0) {
      ended_.wait_for(lock, std::chrono::milliseconds(100));
      if (asked_.stop && asked_.stop()) over_ = true;
      if (!asked_.progress) continue;
      const std::uint64_t programs = catch_.programs;
      lock.unlock();
      asked_.progress(programs);
      lock.lock();
    }
  }

  void work() {
    auto machine = asked_.make_machine();
    if (machine) {
      Checker checker(asked_.profile, **machine);
      Coverage coverage(asked_.profile);
      while (const auto batch = next()) {
        if (!play(checker, coverage, *batch)) break;
      }
      const std::scoped_lock lock(mutex_);
      catch_.disturbed += checker.disturbed();
      if (asked_.coverage != nullptr) asked_.coverage->add(coverage);
    } else {
      const std::scoped_lock lock(mutex_);
      fail(machine.error());
    }
    const std::scoped_lock lock(mutex_);
    --running_;
    ended_.notify_all();
  }

  std::optional<std::uint64_t> next() {
    const std::scoped_lock lock(mutex_);
    if (over_) return std::nullopt;
    if (asked_.seconds ? Clock::now() - began_ >= *asked_.seconds : next_ * asked_.together >= asked_.programs) {
      return std::nullopt;
    }
    return next_++;
  }

  bool play(Checker& checker, Coverage& coverage, std::uint64_t batch) {
    const std::vector<Drawn> programs = draw_batch(asked_, batch);
    if (asked_.coverage != nullptr) coverage.add(programs);
    auto found = checker.compare(programs);
    const std::scoped_lock lock(mutex_);
    if (!found) {
      fail(found.error());
      return false;
    }
    catch_.programs += programs.size();
    for (const Drawn& one : programs) catch_.operations += one.operations.size();
    if (*found && (!found_ || batch < batch_)) {
      // Batches are begun in order, so every earlier one is being played or has been.
      over_ = true;
      batch_ = batch;
      found_ = std::move(*found);
    }
    return true;
  }

  void fail(const std::string& error) {
    over_ = true;
    // Whoever ends the hunt often ends the machines too.
    if (asked_.stop && asked_.stop()) return;
    if (!error_) error_ = error;
  }

  const Hunt& asked_;
  const Clock::time_point began_ = Clock::now();
  std::mutex mutex_;
  std::condition_variable ended_;
  unsigned running_ = 0;
  bool over_ = false;
  std::uint64_t next_ = 0;
  std::uint64_t batch_ = 0;
  std::optional<Difference> found_;
  std::optional<std::string> error_;
  Catch catch_;
};

}  // namespace

std::expected<Catch, std::string> hunt(const Hunt& asked) { return Pack(asked).run(); }

}  // namespace faultline::check
