#include "agent/fault_counts.h"

#include <linux/perf_event.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/descriptor.h"

namespace faultline::agent {
namespace {

enum class Kernelspace : std::uint8_t { counted, excluded };

int open_page_fault_counter(Kernelspace kernelspace) {
  perf_event_attr attributes{};
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.size = sizeof attributes;
  attributes.config = PERF_COUNT_SW_PAGE_FAULTS;
  attributes.exclude_kernel = kernelspace == Kernelspace::excluded ? 1 : 0;
  attributes.exclude_hv = 1;
  const long opened = syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
  return opened < 0 ? -1 : out_of_the_way(static_cast<int>(opened));
}

struct Usage {
  std::uint64_t minor = 0;
  std::uint64_t major = 0;
};

Usage usage() {
  rusage now{};
  getrusage(RUSAGE_THREAD, &now);
  return {static_cast<std::uint64_t>(now.ru_minflt), static_cast<std::uint64_t>(now.ru_majflt)};
}

}  // namespace

FaultCounts::FaultCounts(Source source) : source_(source) { open(); }

FaultCounts::~FaultCounts() {
  if (perf_ >= 0) close(perf_);
}

void FaultCounts::open() {
  if (source_ == Source::derived) return;
  perf_ = open_page_fault_counter(Kernelspace::counted);
  user_only_ = perf_ < 0;
  if (user_only_) perf_ = open_page_fault_counter(Kernelspace::excluded);
}

void FaultCounts::reopen() {
  if (perf_ >= 0) close(perf_);
  open();
}

Counters FaultCounts::read() const {
  Counters totals;
  totals[Counter::minor_faults] = usage().minor;
  std::uint64_t exceptions = derived_;
  if (perf_ >= 0 && ::read(perf_, &exceptions, sizeof exceptions) != sizeof exceptions) exceptions = 0;
  totals[Counter::exceptions] = exceptions;
  return totals - left_out_;
}

CounterSet FaultCounts::known() {
  CounterSet known;
  known.set(std::to_underlying(Counter::exceptions));
  known.set(std::to_underlying(Counter::minor_faults));
  return known;
}

std::uint64_t FaultCounts::before_access() const {
  const Usage now = usage();
  return now.minor + now.major;
}

void FaultCounts::after_access(std::uint64_t before, std::uint64_t signals) {
  const Usage now = usage();
  derived_ += now.minor + now.major - before + signals;
}

std::string FaultCounts::note() const {
  if (source_ == Source::derived) return {};
  if (derives()) {
    return "exceptions are derived from ru_minflt, ru_majflt and signals, as perf_event_open is not permitted here";
  }
  if (user_only_) {
    return "exceptions are perf's software page faults in user mode; those that system calls take are not permitted to "
           "be seen";
  }
  return "exceptions are perf's software page faults";
}

}  // namespace faultline::agent
