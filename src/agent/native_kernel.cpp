#include "agent/native_kernel.h"

#include <fcntl.h>
#include <unistd.h>

#include <charconv>
#include <cstring>
#include <utility>

#include "agent/arch.h"
#include "agent/system_call.h"
#include "agent/userfaultfd_call.h"
#include "program/constants.h"

namespace faultline::agent {
namespace {

/// Results above this are -errno.
constexpr std::uint64_t kLastError = ~std::uint64_t{0} - 4095;

/// The number that begins soft-dirty tracking (proc_pid_clear_refs(5)).
constexpr int kSoftDirty = 4;

/// Calls whose faults are exceptions in the kernel, as those of an access; others populate memory without any.
bool copies_memory(program::Sys sys) {
  return sys == program::Sys::read || sys == program::Sys::write || sys == program::Sys::mincore ||
         sys == program::Sys::ioctl;
}

}  // namespace

std::optional<std::string> NativeKernel::unsupported(const run::CallRequest& call) const {
  if (call.sys == program::Sys::change_prot_numa) return "change_prot_numa, which no system call of a kernel asks for";
  const bool changes_rights = call.sys == program::Sys::pkey_set && call.arguments[1] != 0;
  if (arch::has_protection_keys() && call.arguments[0] == 0 &&
      (changes_rights || call.sys == program::Sys::pkey_free)) {
    return std::string(program::sys_name(call.sys)) + " of key 0, which the memory of the agent has too";
  }
  return std::nullopt;
}

run::CallOutcome NativeKernel::call(const run::CallRequest& call) {
  switch (call.sys) {
    case program::Sys::ioctl:
      return ioctl(call);
    case program::Sys::clear_refs:
      return clear_refs(static_cast<int>(call.arguments[0]));
    case program::Sys::pkey_set:
      return pkey_set(call.arguments[0], call.arguments[1]);
    case program::Sys::pkey_get:
      return pkey_get(call.arguments[0]);
    case program::Sys::close:
      process_.handlers.stop(static_cast<int>(call.arguments[0]));
      break;
    default:
      break;
  }
  return call_raw(raw_call(call), call.sys);
}

run::CallOutcome NativeKernel::clear_refs(int number) {
  const RawCall raw = process_.clear_refs.write_of(number);
  run::CallOutcome outcome;
  // It write-protects the agent's own memory, too, whose faults are not the program's.
  counts_.leave_out([&] {
    outcome = call_raw(raw, program::Sys::clear_refs);
    if (process_.settled) {
      process_.own.touch();
    } else {
      process_.own.touch_near();
    }
    if (process_.ledger != nullptr) process_.ledger->touch_used();
  });
  if (outcome.error) return outcome;
  outcome.value = 0;
  if (number == kSoftDirty) process_.memory.track_soft_dirty();
  return outcome;
}

run::CallOutcome NativeKernel::ioctl(const run::CallRequest& call) {
  const UserfaultfdCall request(call);
  const run::CallOutcome outcome = call_raw(request.raw(), call.sys);
  // From here on faults may wait.
  if (!outcome.error && request.enables_waiting()) process_.handlers.start(static_cast<int>(call.arguments[0]));
  return outcome;
}

run::CallOutcome NativeKernel::call_raw(const RawCall& raw, program::Sys sys) {
  const bool derives = counts_.derives() && copies_memory(sys);
  const std::uint64_t faults_before = derives ? counts_.before_access() : 0;
  const std::uint64_t start = meter_.begin();
  const std::uint64_t result = arch::system_call(raw.number, raw.arguments);
  const std::uint64_t stop = meter_.end();
  if (derives) counts_.after_access(faults_before, 0);
  run::CallOutcome outcome{result, {}, meter_.amount(start, stop, 1)};
  // brk alone has no errors: whatever it returns is the break.
  if (sys != program::Sys::brk && result > kLastError) outcome.error = Errno{static_cast<int>(0 - result)};
  return outcome;
}

std::optional<std::string> NativeKernel::unsupported(const run::AccessRequest& access) const {
  if (access.kind == AccessKind::atomic && !arch::has_one_instruction_atomic()) {
    return "an atomic in one instruction: this processor has none";
  }
  return std::nullopt;
}

/// `work` is the timed part, of that many instructions of the program. A fault in it ends the window too, so the sample
/// then holds the signal's delivery.
template <class Work>
run::AccessOutcome NativeKernel::guarded(std::uint64_t instructions, Work work, std::uint64_t fetch_target) {
  const bool derives = counts_.derives();
  const std::uint64_t faults_before = derives ? counts_.before_access() : 0;
  volatile std::uint64_t start = 0;
  if (sigsetjmp(guard_.jump(), 0) == 0) {
    guard_.arm();
    start = meter_.begin();
    work();
  }
  const std::uint64_t stop = meter_.end();
  const std::optional<CaughtFault> fault = guard_.disarm();
  if (derives) counts_.after_access(faults_before, fault ? 1 : 0);
  run::AccessOutcome outcome{{}, meter_.amount(start, stop, instructions)};
  if (!fault) return outcome;
  const bool fetched =
      fetch_target != 0 && arch::fetched(fetch_target, fault->pc, fault->signal.number, fault->signal.code);
  if (!fetched) outcome.signal = fault->signal;
  return outcome;
}

void NativeKernel::perform(const run::AccessRequest& access) {
  const std::uint64_t addr = access.address.value;
  if (access.text) {
    const auto routine = reinterpret_cast<void (*)(std::uint64_t, std::uint64_t)>(access.text->value +
                                                                                  arch::routine_offset(access.kind));
    for (std::uint64_t i = 0; i < access.count; ++i) routine(addr + i * access.stride, access.value);
    return;
  }
  switch (access.kind) {
    case AccessKind::load:
      return arch::load_each(addr, access.count, access.stride);
    case AccessKind::store:
      return arch::store_each(addr, access.count, access.stride, static_cast<std::uint8_t>(access.value));
    case AccessKind::atomic:
      return arch::atomic_each(addr, access.count, access.stride, access.value);
    case AccessKind::fetch:
      break;  // one by one, see access()
  }
}

run::AccessOutcome NativeKernel::access(const run::AccessRequest& access) {
  if (access.kind != AccessKind::fetch) {
    return guarded(access.count, [&] { perform(access); });
  }
  // Executing what stands there may end in a signal of its own, so each fetch is guarded by itself.
  run::AccessOutcome total;
  for (std::uint64_t i = 0; i < access.count && !total.signal; ++i) {
    const std::uint64_t addr = access.address.value + i * access.stride;
    const run::AccessOutcome one = guarded(1, [&] { arch::fetch(addr); }, addr);
    total.amount += one.amount;
    total.signal = one.signal;
  }
  return total;
}

run::AccessOutcome NativeKernel::place_code(Addr addr) {
  const std::span<const std::byte> code = arch::access_routines();
  return guarded(code.size(), [&] {
    std::memcpy(reinterpret_cast<void*>(addr.value), code.data(), code.size());
    arch::synchronize_instructions(addr.value, code.size());
  });
}

void NativeKernel::settle() {
  if (std::exchange(process_.settled, true)) return;
  process_.own.touch();
}

run::ProbeAnswer NativeKernel::huge(Range range) {
  const auto pages = process_.memory.huge(range);
  if (!pages) return std::unexpected("before Linux 6.7 a kernel counts huge pages by whole mappings only");
  return *pages;
}

run::ProbeAnswer NativeKernel::uffd_wp(Range range) {
  const auto pages = process_.memory.uffd_wp(range);
  if (!pages) return std::unexpected("before Linux 5.14 pagemap does not show what a userfaultfd protects");
  return *pages;
}

run::ProbeAnswer NativeKernel::perm(Addr addr) {
  const std::optional<Prot> prot = process_.memory.protection(addr);
  return prot ? std::to_underlying(*prot) : program::kUnmapped;
}

run::ProbeAnswer NativeKernel::pkey(Addr addr) {
  if (!process_.memory.protection(addr)) return program::kUnmapped;
  return process_.memory.protection_key(addr);
}

run::ProbeAnswer NativeKernel::max_map_count() {
  char text[32] = {};
  const int file = open("/proc/sys/vm/max_map_count", O_RDONLY | O_CLOEXEC);
  if (file < 0) return std::unexpected("/proc/sys/vm/max_map_count cannot be read");
  const ssize_t got = read(file, text, sizeof text - 1);
  close(file);
  std::uint64_t value = 0;
  const char* end = text + (got > 0 ? got : 0);
  if (std::from_chars(text, end, value).ec != std::errc{}) {
    return std::unexpected("/proc/sys/vm/max_map_count holds no number");
  }
  return value;
}

}  // namespace faultline::agent
