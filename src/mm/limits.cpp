#include "mm/limits.h"

#include "mm/mm.h"

namespace faultline::mm {
namespace {

std::uint64_t pages_of(std::uint64_t limit) { return limit >> kPageShift; }

}  // namespace

Result<void> Limits::set(Resource resource, Limit limit) {
  if (limit.soft > limit.hard) return fail(EINVAL);
  Limit& current = limits_[index(resource)];
  if (limit.hard > current.hard) return fail(EPERM);
  current = limit;
  return {};
}

bool may_expand(const Mm& mm, VmFlags flags, std::uint64_t pages, std::uint64_t replaced) {
  if (mm.usage.total + pages - replaced > pages_of(mm.limits.of(Resource::address_space).soft)) return false;
  const Limit& data = mm.limits.of(Resource::data);
  const std::uint64_t wanted = mm.usage.data + pages - replaced;
  if (!is_data(flags) || wanted <= pages_of(data.soft)) return true;
  // A limit of 0 is for programs that the kernel lets have brk only, and means the hard one here.
  return data.soft == 0 && wanted <= pages_of(data.hard);
}

bool may_lock(const Mm& mm) { return mm.limits.of(Resource::memlock).soft != 0; }

bool lock_fits(const Mm& mm, VmFlags flags, std::uint64_t pages) {
  return !has(flags, VmFlags::locked) || mm.usage.locked + pages <= pages_of(mm.limits.of(Resource::memlock).soft);
}

std::uint64_t mapped_pages(const Mm& mm, Range range, VmFlags flags) {
  std::uint64_t pages = 0;
  mm.vmas.each(range, [&](const Vma& vma) {
    if ((vma.flags & flags) == flags) pages += range.intersect(vma.range()).pages();
  });
  return pages;
}

}  // namespace faultline::mm
