// The memory calls of a recording, and what they do to what is known of the memory.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>

#include "record/plugin/recorder.h"

namespace faultline::record {
namespace {

constexpr std::uint64_t kPage = 4096;

}  // namespace

void Recorder::memory_call(Thread& thread, std::int64_t result) {
  const Call call = thread.meaning->call;
  const Arguments& a = thread.arguments;
  constexpr std::uint64_t kSetMdwe = 65;
  if (call == Call::prctl && a[0] != kSetMdwe) return;
  const std::uint32_t site = site_of(thread, thread.last_call_site);
  std::uint64_t file = 0;
  const auto descriptor = static_cast<int>(a[4]);
  if (call == Call::mmap && (a[3] & MAP_ANONYMOUS) == 0 && !failed(result) && descriptor >= 0) {
    std::array<char, kLongestPath> path{};
    const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
    const ssize_t length = readlink(link.c_str(), path.data(), path.size());
    file = file_of(std::string(path.data(), length > 0 ? static_cast<std::size_t>(length) : 0), descriptor);
  }
  channel_.begin(Kind::call).number(thread.number).number(static_cast<std::uint64_t>(call)).number(site);
  channel_.number(thread.meaning->arguments);
  for (std::uint8_t i = 0; i < thread.meaning->arguments; ++i) channel_.number(a[i]);
  channel_.number(static_cast<std::uint64_t>(result)).number(file).end();
  // A call that failed may have done a part.
  update_memory(call, a, static_cast<std::uint64_t>(result));
}

void Recorder::update_memory(Call call, const Arguments& a, std::uint64_t result) {
  constexpr std::uint64_t kDontUnmap = 4;
  const bool done = !failed(static_cast<std::int64_t>(result));
  switch (call) {
    case Call::mmap:
      if (!done) return;
      known_.add(result, a[1]);
      return states_.forget(result, a[1]);
    case Call::munmap:
      if (done) known_.remove(a[0], a[1]);
      return states_.forget(a[0], a[1]);
    case Call::mremap:
      states_.forget(a[0], a[1]);
      if (!done) return;
      if ((a[3] & kDontUnmap) == 0) known_.remove(a[0], a[1]);
      known_.add(result, a[2]);
      return states_.forget(result, a[2]);
    case Call::brk:
      if (break_ != 0 && result > break_) {
        known_.add((break_ + kPage - 1) & ~(kPage - 1), result - break_);
      } else if (result < break_) {
        known_.remove((result + kPage - 1) & ~(kPage - 1), break_ - result);
      }
      states_.forget(std::min(break_, result), std::max(break_, result) - std::min(break_, result));
      break_ = result;
      return;
    case Call::mlockall:
    case Call::munlockall:
      return states_.forget_all();
    case Call::msync:
    case Call::prctl:
      return;
    case Call::mprotect:
    case Call::pkey_mprotect:
    case Call::madvise:
    case Call::mseal:
    case Call::mlock:
    case Call::mlock2:
    case Call::munlock:
      return states_.forget(a[0] & ~(kPage - 1), a[1]);
  }
}

}  // namespace faultline::record
