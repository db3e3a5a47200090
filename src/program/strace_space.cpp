// The calls of a log as statements: which, and what they need to have been set up.
#include "program/strace_space_context.h"

namespace faultline::program {

bool is_raw_call(std::string_view name) { return name.starts_with("syscall_"); }

std::optional<Sys> imported_call(std::string_view name) {
  // What strace itself is too old for: 462 on every architecture.
  if (name == "syscall_0x1ce") return Sys::mseal;
  const auto sys = sys_named(name);
  if (!sys) return std::nullopt;
  switch (*sys) {
    case Sys::mmap:
    case Sys::munmap:
    case Sys::mprotect:
    case Sys::pkey_mprotect:
    case Sys::madvise:
    case Sys::mremap:
    case Sys::mseal:
    case Sys::mlock:
    case Sys::mlock2:
    case Sys::munlock:
    case Sys::mlockall:
    case Sys::munlockall:
    case Sys::msync:
    case Sys::brk:
    case Sys::memfd_create:
    case Sys::ftruncate:
    case Sys::close:
    case Sys::prctl:
      return sys;
    default:
      return std::nullopt;
  }
}

std::optional<std::size_t> recorded_string_of(Sys sys) {
  return sys == Sys::memfd_create ? std::optional<std::size_t>(0) : std::nullopt;
}

RecordedSpace RecordedSpace::forked() const {
  RecordedSpace child;
  child.memory_ = memory_;
  child.break_ = break_;
  child.memfds_ = memfds_;
  if (mdwe_ == Mdwe::inherited) child.mdwe_ = Mdwe::inherited;
  return child;
}

std::size_t RecordedSpace::add_child(Position position) {
  statements_.push_back({position, "", Child{}});
  return statements_.size() - 1;
}

void RecordedSpace::add(Sys sys, const RecordedCall& call, Position position, StraceTally& tally,
                        std::vector<std::string>& slots) {
  const Context c{sys, call, position, tally, slots};
  if (!call.result.value && !call.result.error) {
    ++tally.unfinished;
    return;
  }
  ++tally.imported;
  switch (sys) {
    case Sys::mmap:
      return map(c);
    case Sys::munmap:
      return unmap(c);
    case Sys::mprotect:
    case Sys::pkey_mprotect:
      return protect(c);
    case Sys::madvise:
      return advise(c);
    case Sys::mremap:
      return remap(c);
    case Sys::brk:
      return move_break(c);
    case Sys::memfd_create:
      return create_memfd(c);
    case Sys::ftruncate:
    case Sys::close:
      return change_memfd(c);
    case Sys::prctl:
      return deny_write_exec(c);
    default:
      return lock_or_seal(c);
  }
}

void RecordedSpace::leave_out(const Context& c, std::string_view why) {
  --c.tally.imported;
  ++c.tally.left_out[std::string(sys_name(c.sys)) + " " + std::string(why)];
}

bool RecordedSpace::reproducible(const Context& c, std::optional<Range> range) const {
  switch (c.error()) {
    case EINVAL:
    case EEXIST:
    case EPERM:  // sealed
      return true;
    case ENOMEM:
      return !range || !memory_.all_mapped(*range);
    case EACCES:  // a file that is not open for it, or MDWE
      return mdwe_ != Mdwe::off && range && memory_.all_mapped(*range) && !memory_.any(*range, RecordedState::file);
    default:
      return false;
  }
}

void RecordedSpace::set_up(const Context& c, Range range, Gaps gaps) {
  const auto which = gaps == Gaps::all ? RecordedMemory::Unmapped::any : RecordedMemory::Unmapped::unknown;
  constexpr MapFlags kFlags = MapFlags::private_ | MapFlags::anonymous | MapFlags::fixed_noreplace;
  for (const Range& gap : memory_.unmapped_parts(range, which)) {
    statements_.push_back(call_statement(c.position, Sys::mmap,
                                         {{gap.start.value, Spelling::address},
                                          {gap.bytes()},
                                          {std::to_underlying(Prot::read | Prot::write), Spelling::protection},
                                          {bits(kFlags), Spelling::map_flags},
                                          {~std::uint64_t{0}},
                                          {0}}));
    memory_.set(gap, RecordedState::anonymous);
    ++c.tally.set_up;
  }
}

void RecordedSpace::create_memfd(const Context& c) {
  if (!c.succeeded()) return leave_out(c, errno_name(*c.call.result.error));
  constexpr std::uint64_t kHugetlb = 4;
  if ((c.argument(1) & kHugetlb) != 0) return leave_out(c, "with MFD_HUGETLB");
  const std::uint64_t slot = c.slots.size();
  c.slots.push_back("memfd" + std::to_string(slot + 1));
  statements_.push_back(call_statement_into(
      c.position, c.sys, {{0, Spelling::text, "log"}, {c.argument(1), Spelling::memfd_flags}}, c.variable(slot)));
  memfds_[static_cast<std::uint32_t>(c.value())] = slot;
}

void RecordedSpace::change_memfd(const Context& c) {
  const auto memfd = memfds_.find(static_cast<std::uint32_t>(c.argument(0)));
  if (!c.succeeded() || memfd == memfds_.end()) return leave_out(c, "that failed");
  if (c.sys == Sys::close) {
    statements_.push_back(call_statement(c.position, c.sys, {c.variable(memfd->second)}, status(c.value())));
    memfds_.erase(memfd);
  } else {
    statements_.push_back(
        call_statement(c.position, c.sys, {c.variable(memfd->second), {c.argument(1)}}, status(c.value())));
  }
}

void RecordedSpace::deny_write_exec(const Context& c) {
  constexpr std::uint64_t kSet = 65;
  constexpr std::uint64_t kRefuse = 1;
  constexpr std::uint64_t kNoInherit = 2;
  const bool sets = c.argument(0) == kSet;
  const std::uint64_t wanted = c.argument(1);
  if (!c.succeeded()) {
    // A kernel that knows no MDWE refuses all; others only such arguments.
    const bool odd_bits = sets ? wanted > (kRefuse | kNoInherit) || wanted == kNoInherit : wanted != 0;
    const bool odd = odd_bits || c.argument(2) != 0 || c.argument(3) != 0 || c.argument(4) != 0;
    if (c.error() != EPERM && !(c.error() == EINVAL && odd)) return leave_out(c, errno_name(*c.call.result.error));
  } else if (sets && wanted != 0) {
    mdwe_ = wanted == kRefuse ? Mdwe::inherited : Mdwe::own;
  }
  const auto emit = [&](auto result) {
    statements_.push_back(call_statement(c.position, c.sys,
                                         {{c.argument(0), Spelling::prctl_option},
                                          {wanted, Spelling::mdwe_flags},
                                          {c.argument(2)},
                                          {c.argument(3)},
                                          {c.argument(4)}},
                                         result));
  };
  if (!c.succeeded()) return emit(c.error());
  emit(status(c.value()));
}

}  // namespace faultline::program
