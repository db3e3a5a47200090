#include "mm/seal.h"

#include <utility>

namespace faultline::mm {
namespace {

/// Does this advice count as a discard?
bool discards(const Profile& profile, Advice advice) {
  switch (profile.seal_discard) {
    case SealDiscard::v10_mask: {
      // The bits of all discarding advice were OR-ed into one mask: any advice that shares a bit with it counted.
      constexpr int kMask = std::to_underlying(Advice::free) | std::to_underlying(Advice::dontneed) |
                            std::to_underlying(Advice::dontneed_locked) | std::to_underlying(Advice::remove) |
                            std::to_underlying(Advice::dontfork) | std::to_underlying(Advice::wipeonfork);
      return (std::to_underlying(advice) & kMask) != 0;
    }
    case SealDiscard::no_file:
    case SealDiscard::anonymous:
      switch (advice) {
        case Advice::free:
        case Advice::dontneed:
        case Advice::dontneed_locked:
        case Advice::remove:
        case Advice::dontfork:
        case Advice::wipeonfork:
        case Advice::guard_install:
          return true;
        default:
          return false;
      }
  }
  return false;
}

/// Discarding takes nothing from the seal: the memory could be overwritten anyway, or comes back from a file.
bool may_discard(const Vma& vma, const Pkru& pkru) {
  return vma.object != nullptr || (vma.is(VmFlags::write) && pkey_permits(pkru, vma, DataAccess::write));
}

Result<void> test_discard(Mm& mm, const Vma& vma, Advice advice) {
  mm.count(Counter::seal_checks);
  if (vma.is(VmFlags::sealed) && seal_refuses(mm.profile(), mm.pkru, vma, advice)) {
    return mm.refuse(EPERM, Rule::sealed_discard, vma.range());
  }
  return {};
}

/// Walks the range as the upfront checks do, holes ignored.
template <class Test>
Result<void> walk(Mm& mm, Range range, Test&& test) {
  Result<void> result;
  for (Vma* vma = mm.vmas.first_in(range); vma != nullptr && vma->start < range.end; vma = mm.vmas.next(*vma)) {
    visit_vma(mm);
    mm.count(Counter::vmas_checked);
    if (result = test(*vma); !result) break;
  }
  return result;
}

}  // namespace

bool seal_refuses(const Profile& profile, const Pkru& pkru, const Vma& vma, Advice advice) {
  return discards(profile, advice) && !may_discard(vma, pkru);
}

Result<void> test_seal(Mm& mm, const Vma& vma, Rule rule) {
  mm.count(Counter::seal_checks);
  if (vma.is(VmFlags::sealed)) return mm.refuse(EPERM, rule, vma.range());
  return {};
}

Result<void> test_seals(Mm& mm, Range range) {
  return walk(mm, range, [&](const Vma& vma) { return test_seal(mm, vma, Rule::sealed_upfront); });
}

Result<void> check_discard_upfront(Mm& mm, Range range, Advice advice) {
  // The kernel looks at no VMA when the advice does not discard.
  if (mm.profile().seal != Seal::upfront || !discards(mm.profile(), advice)) return {};
  return walk(mm, range, [&](const Vma& vma) { return test_discard(mm, vma, advice); });
}

Result<void> check_discard_in_loop(Mm& mm, const Vma& vma, Advice advice) {
  if (mm.profile().seal != Seal::in_loop) return {};
  return test_discard(mm, vma, advice);
}

}  // namespace faultline::mm
