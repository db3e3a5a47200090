// What system calls write into the program's memory, and the memory that they read to know it.
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "record/plugin/recorder.h"

namespace faultline::record {
namespace {

/// How much an ioctl writes: what its number says, or, of the terminal's, which are older than that, what is known.
std::uint64_t ioctl_size(std::uint64_t request) {
  constexpr std::uint64_t kGetTermios = 0x5401;
  constexpr std::uint64_t kGetWindowSize = 0x5413;
  constexpr std::uint64_t kBytesReadable = 0x541b;
  switch (request) {
    case kGetTermios:
      return 36;
    case kGetWindowSize:
      return 8;
    case kBytesReadable:
      return 4;
    default:
      constexpr std::uint64_t kReads = 2;
      return (request >> 30U & kReads) != 0 ? request >> 16U & 0x3fffU : 0;
  }
}

}  // namespace

bool Recorder::peek(std::uint64_t vaddr, void* to, std::size_t bytes) const {
  const iovec local{to, bytes};
  const iovec remote{reinterpret_cast<void*>(vaddr + base_), bytes};
  return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == static_cast<ssize_t>(bytes);
}

template <class T>
std::optional<T> Recorder::peek(std::uint64_t vaddr) const {
  T value{};
  if (!peek(vaddr, &value, sizeof value)) return std::nullopt;
  return value;
}

std::string Recorder::text_at(std::uint64_t vaddr) const {
  constexpr std::size_t kLongest = std::size_t{1} << 17U;  // MAX_ARG_STRLEN
  constexpr std::uint64_t kPage = 4096;
  std::string text;
  while (text.size() < kLongest) {
    std::array<char, kPage> part{};
    const std::uint64_t at = vaddr + text.size();
    const std::size_t bytes = kPage - at % kPage;
    if (!peek(at, part.data(), bytes)) break;
    const std::size_t length = strnlen(part.data(), bytes);
    text.append(part.data(), length);
    if (length < bytes) break;
  }
  return text;
}

void Recorder::written_by_kernel(Thread& thread, const Written& written, std::uint64_t result) {
  const Arguments& a = thread.arguments;
  const std::uint64_t address = a[written.argument];
  if (written.extent == Extent::none || address == 0) return;
  const auto spread = [&](std::uint64_t vector, std::uint64_t count) {
    constexpr std::uint64_t kMost = 1024;  // UIO_MAXIOV
    std::uint64_t left = result;
    for (std::uint64_t i = 0; i < std::min(count, kMost) && left > 0; ++i) {
      const auto part = peek<std::array<std::uint64_t, 2>>(vector + i * sizeof(iovec));
      if (!part) return;
      const std::uint64_t bytes = std::min((*part)[1], left);
      touched_by_kernel(thread, (*part)[0], bytes);
      left -= bytes;
    }
  };
  switch (written.extent) {
    case Extent::none:
      return;
    case Extent::bytes:
      return touched_by_kernel(thread, address, written.size);
    case Extent::result:
      return touched_by_kernel(thread, address, result);
    case Extent::times_result:
      return touched_by_kernel(thread, address, written.size * result);
    case Extent::times_argument:
      return touched_by_kernel(thread, address, written.size * std::min<std::uint64_t>(a[written.count], 1U << 20U));
    case Extent::vector:
      return spread(address, a[written.count]);
    case Extent::message:
      if (const auto header = peek<std::array<std::uint64_t, 4>>(address)) spread((*header)[2], (*header)[3]);
      return;
    case Extent::mincore:
      return touched_by_kernel(thread, address, (a[1] + 4095) / 4096);
    case Extent::ioctl:
      return touched_by_kernel(thread, address, ioctl_size(a[written.count]));
  }
}

void Recorder::exec(const Arguments& arguments) {
  std::string file = text_at(arguments[0]);
  if (file == "/proc/self/exe") file = program_;
  const auto words = [this](std::uint64_t vector) {
    std::vector<std::string> list;
    constexpr std::size_t kMost = std::size_t{1} << 17U;
    while (list.size() < kMost) {
      const auto word = peek<std::uint64_t>(vector + 8 * list.size());
      if (!word || *word == 0) break;
      list.push_back(text_at(*word));
    }
    return list;
  };
  const auto program = emulator_ ? executed(machine_, file, words(arguments[1])) : std::nullopt;
  const std::vector<std::string> environment = words(arguments[2]);
  {
    const std::lock_guard guard(mutex_);
    if (!program && access(file.c_str(), X_OK) == 0) channel_.begin(Kind::foreign).text(file).end();
    channel_.flush();
  }
  if (!program) return;
  std::vector<char*> variables;
  for (const std::string& variable : environment) variables.push_back(const_cast<char*>(variable.c_str()));
  variables.push_back(nullptr);
  execute(*emulator_, *program, variables.data());
}

}  // namespace faultline::record
