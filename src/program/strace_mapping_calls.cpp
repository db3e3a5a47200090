// The calls of a log that change mappings, as statements.
#include <algorithm>
#include <array>

#include "program/strace_space_context.h"

namespace faultline::program {
namespace {

/// A file decides the result of such advice, or answers otherwise than anonymous memory does.
bool depends_on_file(std::uint64_t advice) {
  constexpr std::array kPlain{Advice::normal,   Advice::random,   Advice::sequential, Advice::willneed,
                              Advice::dontneed, Advice::dontfork, Advice::dofork,     Advice::dontdump,
                              Advice::dodump,   Advice::cold,     Advice::pageout};
  return std::ranges::find(kPlain, static_cast<Advice>(advice)) == kPlain.end();
}
}  // namespace

void RecordedSpace::map(const Context& c) {
  std::uint64_t length = c.argument(1);
  std::uint64_t flags = c.argument(3);
  const bool anonymous = (flags & bits(MapFlags::anonymous)) != 0;
  const auto memfd = anonymous ? memfds_.end() : memfds_.find(static_cast<std::uint32_t>(c.argument(4)));
  const bool file = !anonymous && memfd == memfds_.end();
  const SpelledArgument descriptor =
      memfd == memfds_.end() ? SpelledArgument{~std::uint64_t{0}} : c.variable(memfd->second);
  const SpelledArgument offset{memfd == memfds_.end() ? 0 : c.argument(5), Spelling::number};
  const auto emit = [&](std::uint64_t addr, auto result) {
    statements_.push_back(call_statement(c.position, Sys::mmap,
                                         {{addr, Spelling::address},
                                          {length},
                                          {c.argument(2), Spelling::protection},
                                          {flags, Spelling::map_flags},
                                          descriptor,
                                          offset},
                                         result));
  };
  if (!c.succeeded()) {
    constexpr std::uint64_t kBeyondAnySpace = std::uint64_t{1} << 52U;
    const bool too_long = c.error() == ENOMEM && length >= kBeyondAnySpace;
    const bool plain = c.error() == EINVAL || c.error() == EEXIST;
    const bool huge = (flags & bits(MapFlags::hugetlb)) != 0;  // of a pool that the log does not know
    // Of anonymous memory, by MDWE alone, or over what is sealed: what else needs a privilege is told apart.
    constexpr std::uint64_t kAnyFirstAddress = 65536;
    const bool denied = anonymous && c.error() == EACCES && mdwe_ != Mdwe::off;
    const bool sealed = anonymous && c.error() == EPERM && (flags & bits(MapFlags::fixed)) != 0 &&
                        (flags & bits(MapFlags::locked)) == 0 && c.argument(0) >= kAnyFirstAddress;
    if (file || huge || !(too_long || plain || denied || sealed)) return leave_out(c, errno_name(*c.call.result.error));
    const auto range = pages_of(c.argument(0), length);
    if (c.error() == EEXIST && range && !range->empty() && !memory_.any_mapped(*range)) {
      set_up(c, Range::of(range->start, kPageSize), Gaps::all);
    }
    return emit(c.argument(0), c.error());
  }

  if ((flags & bits(MapFlags::hugetlb)) != 0) {
    const std::uint64_t shift = flags >> 26U & 63U;
    const std::uint64_t page = std::uint64_t{1} << (shift == 0 ? 21U : std::min<std::uint64_t>(shift, 40));
    length = (length + page - 1) & ~(page - 1);
    flags &= ~bits(MapFlags::hugetlb) & ((std::uint64_t{1} << 26U) - 1);
    ++c.tally.huge;
  }
  if ((flags & bits(MapFlags::grows_down)) != 0) {
    flags &= ~bits(MapFlags::grows_down);
    ++c.tally.grows_down;
  }
  if (memfd != memfds_.end() && (flags & bits(MapFlags::type_mask)) == bits(MapFlags::shared_validate)) {
    // MAP_SHARED_VALIDATE does not know MAP_FIXED_NOREPLACE.
    flags = (flags & ~bits(MapFlags::type_mask)) | bits(MapFlags::shared);
  }
  if (file) {
    ++c.tally.file_mappings;
    constexpr std::uint64_t kOfFiles = 0x800 | 0x1000 | 0x80000;  // MAP_DENYWRITE, MAP_EXECUTABLE, MAP_SYNC
    if ((flags & bits(MapFlags::type_mask)) != bits(MapFlags::private_)) ++c.tally.shared_file_mappings;
    flags = (flags & ~(bits(MapFlags::type_mask) | kOfFiles)) | bits(MapFlags::private_ | MapFlags::anonymous);
  }
  const auto range = pages_of(c.value(), length);
  const std::uint64_t fixed = bits(MapFlags::fixed | MapFlags::fixed_noreplace);
  if ((flags & fixed) == 0) {
    const bool occupied = range && memory_.any_mapped(*range);
    flags |= bits(occupied ? MapFlags::fixed : MapFlags::fixed_noreplace);
    if (occupied) ++c.tally.replaced;
  }
  if (range) {
    memory_.set(*range, file ? RecordedState::file : RecordedState::anonymous);
    c.tally.highest_address = std::max(c.tally.highest_address, range->end.value);
  }
  emit(c.value(), SpelledArgument{c.value(), Spelling::address});
}

void RecordedSpace::unmap(const Context& c) {
  const auto range = pages_of(c.argument(0), c.argument(1));
  const auto emit = [&](auto result) {
    statements_.push_back(
        call_statement(c.position, Sys::munmap, {{c.argument(0), Spelling::address}, {c.argument(1)}}, result));
  };
  if (!c.succeeded()) {
    if (c.error() != EINVAL && c.error() != EPERM) return leave_out(c, errno_name(*c.call.result.error));
    return emit(c.error());
  }
  if (range) {
    set_up(c, *range, Gaps::unknown);
    memory_.set(*range, RecordedState::unmapped);
  }
  emit(status(c.value()));
}

void RecordedSpace::protect(const Context& c) {
  constexpr std::uint64_t kGrows = std::to_underlying(Prot::grows_down | Prot::grows_up);
  if ((c.argument(2) & kGrows) != 0) return leave_out(c, "of a stack");
  const auto range = pages_of(c.argument(0), c.argument(1));
  const auto emit = [&](auto result) {
    statements_.push_back(call_statement(
        c.position, Sys::mprotect,
        {{c.argument(0), Spelling::address}, {c.argument(1)}, {c.argument(2), Spelling::protection}}, result));
  };
  if (!c.succeeded()) {
    if (c.sys == Sys::pkey_mprotect || !reproducible(c, range)) return leave_out(c, errno_name(*c.call.result.error));
    return emit(c.error());
  }
  constexpr std::uint32_t kNoKey = ~std::uint32_t{0};
  if (c.sys == Sys::pkey_mprotect && static_cast<std::uint32_t>(c.argument(3)) != kNoKey) ++c.tally.keys;
  if (range) set_up(c, *range, Gaps::all);
  emit(status(c.value()));
}

void RecordedSpace::advise(const Context& c) {
  const auto range = pages_of(c.argument(0), c.argument(1));
  if (range && depends_on_file(c.argument(2)) && memory_.any(*range, RecordedState::file)) {
    return leave_out(c, "of a file mapping");
  }
  const auto emit = [&](auto result) {
    statements_.push_back(call_statement(
        c.position, Sys::madvise,
        {{c.argument(0), Spelling::address}, {c.argument(1)}, {c.argument(2), Spelling::advice}}, result));
  };
  if (!c.succeeded()) {
    // EINVAL for anything but an odd address may be due to what is mapped there.
    const bool unknown = c.error() == EINVAL && Addr{c.argument(0)}.page_aligned() && range &&
                         (!memory_.all_mapped(*range) || memory_.any(*range, RecordedState::file));
    if (unknown || !reproducible(c, range)) return leave_out(c, errno_name(*c.call.result.error));
    return emit(c.error());
  }
  if (range) set_up(c, *range, Gaps::all);
  emit(status(c.value()));
}

void RecordedSpace::remap(const Context& c) {
  constexpr std::uint64_t kMayMove = 1;
  constexpr std::uint64_t kFixed = 2;
  constexpr std::uint64_t kDontUnmap = 4;
  const std::uint64_t old = c.argument(0);
  std::uint64_t flags = c.argument(3);
  const auto from = pages_of(old, c.argument(1));
  const auto emit = [&](std::uint64_t to, auto result) {
    const SpelledArgument first{old, Spelling::address};
    const SpelledArgument spelled_flags{flags, Spelling::remap_flags};
    statements_.push_back(
        (flags & (kFixed | kDontUnmap)) != 0
            ? call_statement(c.position, Sys::mremap,
                             {first, {c.argument(1)}, {c.argument(2)}, spelled_flags, {to, Spelling::address}}, result)
            : call_statement(c.position, Sys::mremap, {first, {c.argument(1)}, {c.argument(2)}, spelled_flags},
                             result));
  };
  if (!c.succeeded()) {
    // Without room to grow, ENOMEM; whether there was some is known where the log has mapped what lies behind.
    const bool no_room = c.error() == ENOMEM && (flags & kMayMove) == 0 && from && !from->empty() &&
                         memory_.any_mapped(Range::of(from->end, kPageSize));
    const bool bad_address = c.error() == EFAULT && from && !memory_.all_mapped(*from);
    if (!no_room && !bad_address && c.error() != EINVAL && c.error() != EPERM) {
      return leave_out(c, errno_name(*c.call.result.error));
    }
    return emit(c.argument(4), c.error());
  }
  const auto to = pages_of(c.value(), c.argument(2));
  if (from) set_up(c, from->empty() ? Range::of(from->start, kPageSize) : *from, Gaps::all);
  if (c.value() != old) {
    if ((flags & kFixed) == 0 && to && memory_.any_mapped(*to)) ++c.tally.replaced;
    flags |= kMayMove | kFixed;
  }
  if (from && to) {
    const bool file = memory_.any(*from, RecordedState::file);
    if ((flags & kDontUnmap) == 0) memory_.set(*from, RecordedState::unmapped);
    memory_.set(*to, file ? RecordedState::file : RecordedState::anonymous);
    c.tally.highest_address = std::max(c.tally.highest_address, to->end.value);
  }
  emit(c.value(), SpelledArgument{c.value(), Spelling::address});
}

/// The break of a model begins elsewhere, so what a call adds is mapped, and what it gives back is unmapped.
void RecordedSpace::move_break(const Context& c) {
  if (!c.succeeded()) return leave_out(c, errno_name(*c.call.result.error));
  const std::uint64_t wanted = c.argument(0);
  ++c.tally.breaks;
  if (wanted != 0 && c.value() != wanted) {
    --c.tally.breaks;
    return leave_out(c, "that failed");
  }
  const std::optional<std::uint64_t> before = std::exchange(break_, c.value());
  if (!before || wanted == 0) return;
  const Addr old_end{page_ceil(*before)};
  const Addr new_end{page_ceil(c.value())};
  if (new_end > old_end) {
    const Range grown{old_end, new_end};
    const bool occupied = memory_.any_mapped(grown);
    if (occupied) ++c.tally.replaced;
    const MapFlags where = occupied ? MapFlags::fixed : MapFlags::fixed_noreplace;
    statements_.push_back(call_statement(c.position, Sys::mmap,
                                         {{grown.start.value, Spelling::address},
                                          {grown.bytes()},
                                          {std::to_underlying(Prot::read | Prot::write), Spelling::protection},
                                          {bits(MapFlags::private_ | MapFlags::anonymous | where), Spelling::map_flags},
                                          {~std::uint64_t{0}},
                                          {0}},
                                         SpelledArgument{grown.start.value, Spelling::address}));
    memory_.set(grown, RecordedState::anonymous);
  } else if (new_end < old_end) {
    const Range shrunk{new_end, old_end};
    statements_.push_back(call_statement(
        c.position, Sys::munmap, {{shrunk.start.value, Spelling::address}, {shrunk.bytes()}}, SpelledArgument{0}));
    memory_.set(shrunk, RecordedState::unmapped);
  }
}

void RecordedSpace::lock_or_seal(const Context& c) {
  const auto emit = [&](auto result) {
    const SpelledArgument addr{c.argument(0), Spelling::address};
    const SpelledArgument length{c.argument(1)};
    const auto call = [&](std::initializer_list<SpelledArgument> arguments) {
      statements_.push_back(call_statement(c.position, c.sys, arguments, result));
    };
    switch (c.sys) {
      case Sys::mlockall:
        return call({{c.argument(0), Spelling::lockall_flags}});
      case Sys::munlockall:
        return call({});
      case Sys::mlock2:
        return call({addr, length, {c.argument(2), Spelling::lock_flags}});
      case Sys::mseal:
        return call({addr, length, {c.argument(2)}});
      case Sys::msync:
        return call({addr, length, {c.argument(2), Spelling::sync_flags}});
      default:
        return call({addr, length});
    }
  };
  const bool whole = c.sys == Sys::mlockall || c.sys == Sys::munlockall;
  const auto range = whole ? std::nullopt : pages_of(c.argument(0), c.argument(1));
  if (c.succeeded()) {
    if (range) set_up(c, *range, Gaps::all);
    return emit(status(c.value()));
  }
  if (whole || c.error() == EPERM || !reproducible(c, range)) {
    // mlock's EPERM is a limit; mseal has no other than a 32-bit process.
    return leave_out(c, errno_name(*c.call.result.error));
  }
  emit(c.error());
}

}  // namespace faultline::program
