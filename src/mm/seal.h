#pragma once

#include "base/errno.h"
#include "base/flags.h"
#include "mm/mm.h"

/// Where and when a seal refuses a change (C.2 to C.4).
namespace faultline::mm {

/// Looks at the seals of VMAs, whatever the profile.
Result<void> test_seal(Mm& mm, const Vma& vma, Rule rule);
Result<void> test_seals(Mm& mm, Range range);

/// The test before any change, over the whole range (v10 to 6.11). Passes where the profile tests in the loop, or not
/// at all.
inline Result<void> check_seals_upfront(Mm& mm, Range range) {
  return mm.profile().seal == Seal::upfront ? test_seals(mm, range) : Result<void>{};
}
/// The test of one VMA as a loop reaches it (6.12 on). Passes where the profile tests up front, or not at all.
inline Result<void> check_seal_in_loop(Mm& mm, const Vma& vma) {
  return mm.profile().seal == Seal::in_loop ? test_seal(mm, vma, Rule::sealed_in_loop) : Result<void>{};
}

/// Would a seal of the VMA refuse the advice of a thread with these rights (C.4)?
bool seal_refuses(const Profile& profile, const Pkru& pkru, const Vma& vma, Advice advice);

/// The same two for madvise, which refuses only what would discard memory that could not be overwritten.
Result<void> check_discard_upfront(Mm& mm, Range range, Advice advice);
Result<void> check_discard_in_loop(Mm& mm, const Vma& vma, Advice advice);

}  // namespace faultline::mm
