#include "mm/accounting.h"

namespace faultline::mm {

Result<void> Commit::charge(std::uint64_t pages) {
  const bool refused = (policy_ == Overcommit::heuristic && pages > limit_) ||
                       (policy_ == Overcommit::never && charged_ + pages >= limit_);
  if (refused) return fail(ENOMEM);
  charged_ += pages;
  return {};
}

}  // namespace faultline::mm
