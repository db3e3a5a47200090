#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>

namespace faultline::cli {

/// Ctrl-C while machines run. The run that is under way is asked to stop, and gets a moment to return what it has. If
/// it does not return, `last_resort` is called on another thread and the process exits with status 130. One at a time.
class Interrupt {
 public:
  explicit Interrupt(std::function<void()> last_resort);
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  /// Has SIGINT or SIGTERM come?
  bool came() const;

  /// What asks a run to stop.
  std::stop_token stop_token() const { return stop_.get_token(); }

  /// Takes over printing: afterwards `last_resort` is not called any more. Blocks, never to return, when it is being
  /// called right now.
  void stand_down();

 private:
  void watch();

  std::function<void()> last_resort_;
  std::stop_source stop_;
  std::mutex mutex_;
  std::condition_variable stood_down_changed_;
  bool stood_down_ = false;
  std::thread watcher_;
};

}  // namespace faultline::cli
