#include "mm/limits.h"

#include "mm/mm.h"

namespace faultline::mm {
Result<void> Limits::set(Resource resource, Limit limit) {
  if (limit.soft > limit.hard) return fail(EINVAL);
  Limit& current = limits_[index(resource)];
  if (limit.hard > current.hard) return fail(EPERM);
  current = limit;
  return {};
}

bool may_lock(const Mm& mm) { return mm.limits.of(Resource::memlock).soft != 0; }

bool lock_fits(const Mm& mm, VmFlags flags, std::uint64_t pages) {
  return !has(flags, VmFlags::locked) || mm.counted_as_locked() + pages <= mm.limits.of(Resource::memlock).soft_pages();
}

std::uint64_t mapped_pages(const Mm& mm, Range range, VmFlags flags) {
  std::uint64_t pages = 0;
  mm.vmas.each(range, [&](const Vma& vma) {
    if ((vma.flags & flags) == flags) pages += range.intersect(vma.range()).pages();
  });
  return pages;
}

}  // namespace faultline::mm
