// mincore(2).
#include <algorithm>
#include <vector>

#include "mm/address_space.h"
#include "mm/file_io.h"
#include "mm/mm.h"

namespace faultline::mm {
namespace {

/// The pages that one step of the kernel answers for.
constexpr std::uint64_t kStep = kPageSize;

/// Is a page there: mapped, or cached by the file and ready to be mapped?
std::uint8_t is_there(const Vma& vma, Addr at, Pte pte) {
  if (pte.present()) return 1;
  return vma.object != nullptr && vma.object->find(vma.pgoff_at(at)) ? 1 : 0;
}

}  // namespace

Result<void> AddressSpace::mincore(Addr start, std::uint64_t length, Addr vec) {
  Mm& mm = *mm_;
  const Range asked = Range::of(start, 0);
  if (!start.page_aligned()) return mm.refuse(EINVAL, Rule::bad_argument, asked);
  if (!check_buffer(*this, start, length)) return mm.refuse(ENOMEM, Rule::bad_argument, asked);
  const Addr end{page_ceil(start.value + length)};
  if (!check_buffer(*this, vec, Range{start, end}.pages())) return mm.refuse(EFAULT, Rule::bad_argument, asked);
  for (Addr at = start; at < end;) {
    mm.count(Counter::mmap_lock_read);
    mm.vmas.sought(at);
    const Vma* vma = mm.vmas.at(at);
    if (vma == nullptr) return mm.refuse(ENOMEM, Rule::hole, {at, end});
    const Range part{at, std::min({end, vma->end, at + kStep * kPageSize})};
    std::vector<std::uint8_t> answer;
    for (; at < part.end; at = at + kPageSize) {
      const Pte pte = mm.table.get(at);
      if (pte.present()) {
        mm.count(Counter::pages_found);
      } else {
        mm.count(Counter::pages_missing, mm.table.has_table(at) ? 1 : 0);
        mm.count(Counter::pages_asked, vma->object != nullptr ? 1 : 0);
      }
      answer.push_back(is_there(*vma, at, pte));
    }
    if (copy_to_user(vec, answer) < answer.size()) return mm.refuse(EFAULT, Rule::bad_argument, asked);
    vec = vec + answer.size();
  }
  return {};
}

}  // namespace faultline::mm
