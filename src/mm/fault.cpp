// From an access to a resolved fault or a signal: B.1 to B.5.
#include "mm/fault.h"

#include "arch/arm64_atomic.h"
#include "mm/stack.h"

namespace faultline::mm {
namespace {

using arch::Report;

/// The instruction that a program's access is made with; only the arm64 v5 patch looks at it.
constexpr std::uint32_t kLdadd = 0xf8200020;  // ldadd x0, x0, [x1]
constexpr std::uint32_t kLdrb = 0x39400020;   // ldrb w0, [x1]

std::uint32_t instruction_of(AccessKind kind) { return kind == AccessKind::atomic ? kLdadd : kLdrb; }

Signal segv(int code, Addr addr, Pkey key = 0) { return Signal{kSigSegv, code, addr, key}; }

/// Does the VMA permit what was reported (access_error)? The si_code when it does not.
std::optional<int> forbidden(const Mm& mm, const Vma& vma, Pte pte, Report report) {
  const Profile& profile = mm.profile();
  // The key comes before what the mapping permits, and no fetch needs one.
  const DataAccess access = report == Report::write ? DataAccess::write : DataAccess::read;
  if (report != Report::fetch && !pkey_permits(mm.pkru, vma, access)) return kSegvPkuErr;
  VmFlags need = VmFlags::none;
  switch (report) {
    case Report::write:
      need = VmFlags::write;
      break;
    case Report::fetch:
      // arm64 tests the VMA. x86-64 tests only whether it is accessible, maps the page, and finds it not executable on
      // the next try.
      if (profile.arch == arch::Arch::arm64) {
        need = VmFlags::exec;
      } else {
        if (pte.accessible()) return kSegvAccErr;
        need = VmFlags::access;
      }
      break;
    case Report::read:
    case Report::granted:
      need = VmFlags::read | VmFlags::write;
      if (profile.exec_only != ExecOnly::epan) need |= VmFlags::exec;
      break;
  }
  return vma.is(need) ? std::nullopt : std::optional(kSegvAccErr);
}

/// arm64 with rmw=write-first: reads the instruction at the faulting pc. Page faults are off meanwhile, so text that
/// cannot be read costs a nested exception and decides nothing (B.3, B.5).
bool is_atomic_at(Mm& mm, AccessKind kind, std::optional<Addr> text) {
  const bool readable = !text || translation(mm, mm.table.get(text->page_floor())).readable;
  if (!readable) {
    mm.count(Counter::exceptions);
    mm.count(Counter::fault_nested);
  }
  const Rule rule = !readable                                   ? Rule::atomic_text_unreadable
                    : arch::is_atomic_rmw(instruction_of(kind)) ? Rule::atomic_forced_write
                                                                : Rule::none;
  if (rule != Rule::none) {
    mm.explain(
        [&] { return Event{.kind = EventKind::probe, .range = Range::of(text.value_or(Addr{}), 4), .rule = rule}; });
  }
  return rule == Rule::atomic_forced_write;
}

/// The direction in which the kernel takes the fault, which the arm64 patch may turn from a read into a write.
Report taken_as(Mm& mm, const Vma& vma, AccessKind kind, Report reported, std::optional<Addr> text) {
  const Profile& profile = mm.profile();
  if (profile.arch != arch::Arch::arm64 || profile.rmw != Rmw::write_first) return reported;
  if (reported != Report::read || !vma.is(VmFlags::write)) return reported;
  return is_atomic_at(mm, kind, text) ? Report::write : reported;
}

/// Does the VMA permit what is asked of it?
enum class Access : std::uint8_t { permitted, forbidden };

/// Which lock a fault takes that somebody's access has taken. The kernel's own copies know mmap_lock only.
void count_lock(Mm& mm, const Vma* vma, Report taken, FaultOrigin origin, Access access) {
  if (vma == nullptr || origin == FaultOrigin::kernel_copy) return mm.count(Counter::mmap_lock_read);
  // Mappings of a file need an anon_vma only for a private copy.
  const bool needs_none = vma->object != nullptr && (vma->is(VmFlags::shared) || taken != Report::write);
  const bool unfaulted = vma->anon_vma == 0 && !needs_none;
  const bool forbidden = access == Access::forbidden;
  switch (mm.profile().fault_lock) {
    case FaultLock::mmap:
      mm.count(Counter::mmap_lock_read);
      return;
    case FaultLock::per_vma_if_faulted:
      // What is not permitted is looked at again with mmap_lock held.
      mm.count(unfaulted || forbidden ? Counter::mmap_lock_read : Counter::vma_lock);
      return;
    case FaultLock::per_vma:
      // Only a first write still needs mmap_lock: it makes the anon_vma, for which it may look at the neighbours.
      mm.count(unfaulted && taken == Report::write && !forbidden ? Counter::mmap_lock_read : Counter::vma_lock);
      return;
  }
}

EntryView view(const Mm& mm, Pte pte) {
  const arch::Translation seen = translation(mm, pte);
  EntryView entry{.present = pte.present(),
                  .zero_page = pte.zero_page(),
                  .readable = seen.readable,
                  .writable = seen.writable,
                  .executable = seen.executable,
                  .dirty = pte.dirty(),
                  .guard = pte.guard(),
                  .uffd_wp = pte.uffd_wp(),
                  .huge = pte.huge()};
  if (pte.present() && !pte.zero_page()) {
    entry.exclusive = is_exclusive(mm.system.frames(), pte);
    entry.references = mm.system.frames().references(pte.frame());
  }
  return entry;
}

void tell_attempt(Mm& mm, Addr addr, AccessKind kind, Pte pte, Report reported) {
  if (mm.observer == nullptr) return;
  const Range page = Range::of(addr.page_floor(), kPageSize);
  Rule why = Rule::none;
  if (mm.profile().arch == arch::Arch::arm64 && kind == AccessKind::atomic) {
    why = reported == Report::write ? Rule::reports_write_unwritable
          : pte.accessible()        ? Rule::reports_read_unreadable
                                    : Rule::reports_read_untranslated;
  }
  mm.observer->on({.kind = EventKind::pte, .range = page, .entry = view(mm, pte)});
  mm.observer->on({.kind = EventKind::hardware, .range = page, .rule = why, .write = reported == Report::write});
}

std::unexpected<Signal> deliver(Mm& mm, Signal signal, Rule rule, Counter kind) {
  mm.count(kind);
  mm.explain([&] {
    return Event{.kind = EventKind::signal,
                 .range = Range::of(signal.addr.page_floor(), kPageSize),
                 .rule = rule,
                 .signal = signal};
  });
  return std::unexpected(signal);
}

/// One exception: do_user_addr_fault, do_page_fault.
std::expected<void, Signal> take_fault(Mm& mm, Addr addr, AccessKind kind, Pte pte, Report reported,
                                       std::optional<Addr> text, FaultOrigin origin) {
  mm.count(Counter::exceptions);
  mm.explain([&] {
    return Event{.kind = EventKind::exception,
                 .range = Range::of(addr.page_floor(), kPageSize),
                 .write = reported == Report::write};
  });
  mm.vmas.sought(addr);
  Vma* vma = mm.vmas.at(addr);
  const bool grows = vma == nullptr;
  if (grows) {
    count_lock(mm, nullptr, reported, origin, Access::permitted);
    const auto grown = grow_stack(mm, addr);
    if (!grown) return deliver(mm, segv(kSegvMapErr, addr), grown.error(), Counter::fault_signal);
    vma = *grown;
  }
  mm.explain([&] {
    return Event{
        .kind = EventKind::vma, .range = vma->range(), .prot = prot_of(vma->flags), .backing = backing_of(*vma)};
  });
  const Report taken = taken_as(mm, *vma, kind, reported, text);
  const auto code = forbidden(mm, *vma, pte, taken);
  if (!grows) count_lock(mm, vma, taken, origin, code ? Access::forbidden : Access::permitted);
  if (code) {
    if (*code == kSegvPkuErr) {
      return deliver(mm, segv(*code, addr, pkey_of(vma->flags)), Rule::protection_key, Counter::fault_signal);
    }
    return deliver(mm, segv(*code, addr), Rule::vma_forbids, Counter::fault_signal);
  }
  switch (resolve(mm, *vma, addr, taken, origin)) {
    case Handled::done:
      break;
    case Handled::guarded:
      return deliver(mm, segv(kSegvMapErr, addr), Rule::guard_region, Counter::fault_guard);
    case Handled::unanswered:
      return deliver(mm, {kSigBus, kBusAdrErr, addr}, Rule::uffd_unanswered, Counter::fault_signal);
    case Handled::no_page:
      return deliver(mm, {kSigBus, kBusAdrErr, addr}, Rule::beyond_end, Counter::fault_signal);
  }
  return {};
}

}  // namespace

bool is_exclusive(const FramePool& frames, Pte pte) {
  const FrameId id = pte.huge() ? frames.head(pte.frame()) : pte.frame();
  return frames.at(id).exclusive() == Exclusive::yes;
}

arch::Translation translation(const Mm& mm, Pte pte) {
  return {.valid = pte.accessible(),
          .readable = pte.has(Pte::kRead),
          .writable = pte.write(),
          .executable = pte.has(Pte::kExec),
          .key_denies_reads = !mm.pkru.allows_reads(pte.key()),
          .key_denies_writes = !mm.pkru.allows_writes(pte.key())};
}

bool granted_at_once(Mm& mm, Addr addr, AccessKind kind) {
  const Addr page = addr.page_floor();
  const Pte pte = mm.table.get(page);
  const Report reported = arch::check_access(mm.profile().arch, kind, translation(mm, pte));
  if (reported == Report::granted) return true;
  tell_attempt(mm, addr, kind, pte, reported);
  mm.count(Counter::exceptions);
  mm.count(Counter::fault_disabled);
  mm.explain([&] {
    return Event{.kind = EventKind::handled,
                 .range = Range::of(page, kPageSize),
                 .rule = Rule::faults_disabled,
                 .counter = Counter::fault_disabled};
  });
  return false;
}

std::expected<FrameId, Signal> touch(Mm& mm, Addr addr, AccessKind kind, std::optional<Addr> text, FaultOrigin origin) {
  const Addr page = addr.page_floor();
  for (;;) {
    const Pte pte = mm.table.get(page);
    const Report reported = arch::check_access(mm.profile().arch, kind, translation(mm, pte));
    if (reported == Report::granted) {
      const bool writes = kind == AccessKind::store || kind == AccessKind::atomic;
      const Pte used = writes ? pte.with(Pte::kYoung | Pte::kDirty) : pte.with(Pte::kYoung);
      if (used != pte) mm.table.set(page, used);
      const bool loads = pte.has(Pte::kRead) && mm.pkru.allows_reads(pte.key());
      const bool stores = pte.write() && used.dirty() && mm.pkru.allows_writes(pte.key());
      const auto allows = static_cast<std::uint8_t>((loads ? Tlb::kLoad : 0) | (stores ? Tlb::kStore : 0) |
                                                    (pte.has(Pte::kExec) ? Tlb::kFetch : 0));
      mm.tlb.fill(page, pte.frame(), allows);
      return pte.frame();
    }
    tell_attempt(mm, addr, kind, pte, reported);
    if (auto handled = take_fault(mm, addr, kind, pte, reported, text, origin); !handled) {
      return std::unexpected(handled.error());
    }
  }
}

}  // namespace faultline::mm
