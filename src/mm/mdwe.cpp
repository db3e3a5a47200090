#include "mm/mdwe.h"

#include "mm/mm.h"

namespace faultline::mm {

Result<void> do_set_mdwe(Mm& mm, DenyWriteExec bits) {
  constexpr DenyWriteExec kKnown = DenyWriteExec::refuse_exec_gain | DenyWriteExec::no_inherit;
  if (mm.profile().mdwe == Mdwe::absent || has(bits, ~kKnown)) return mm.refuse(EINVAL, Rule::bad_argument, {});
  if (bits == DenyWriteExec::no_inherit) return mm.refuse(EINVAL, Rule::bad_argument, {});
  if (mm.mdwe != DenyWriteExec::none && mm.mdwe != bits) return mm.refuse(EPERM, Rule::bad_argument, {});
  mm.mdwe = bits;
  return {};
}

}  // namespace faultline::mm
