// userfaultfd(2) and ioctl_userfaultfd(2): D.9.
#include "mm/userfaultfd.h"

#include <array>

#include "mm/address_space.h"
#include "mm/calls.h"
#include "mm/merge.h"
#include "mm/over_holes.h"
#include "mm/userfault.h"

namespace faultline::mm {
namespace {

constexpr std::uint64_t kApi = 0xaa;

VmFlags flags_of(UffdModes modes) {
  VmFlags flags = VmFlags::none;
  if (has(modes, UffdModes::missing)) flags |= VmFlags::uffd_missing;
  if (has(modes, UffdModes::wp)) flags |= VmFlags::uffd_wp;
  return flags;
}

/// May a mapping be watched so (vma_can_userfault)? All memory here is anonymous or of a tmpfs.
bool can_be_watched(const Profile& profile, const Vma& vma, VmFlags how) {
  if (vma.is(VmFlags::droppable) && profile.droppable == Droppable::unwatchable) return false;
  if (!has(how, VmFlags::uffd_wp) || vma.object == nullptr) return true;
  return has(profile.uffd_features, UffdFeatures::wp_hugetlbfs_shmem);
}

/// Gives one VMA's part of the range this watcher, or none. Returns the VMA that now holds it.
Result<Vma*> register_vma(Mm& mm, Vma* vma, Range part, VmFlags how, UffdId id) {
  visit_vma(mm);
  const VmFlags flags = (vma->flags & ~kUffdFlags) | how;
  return modify_watch(mm, vma, part, flags, id);
}

/// Takes the watcher of one VMA's part away, and mostly what it protects.
enum class EndOfWatch : std::uint8_t { by_request, by_close };
Result<Vma*> clear_vma(Mm& mm, Vma* vma, Range part, EndOfWatch end) {
  const bool unprotects = end == EndOfWatch::by_request ? mm.profile().uffd_unregister == UffdUnregister::unprotects
                                                        : mm.profile().uffd_close == UffdClose::unprotects;
  if (unprotects && vma->is(VmFlags::uffd_wp)) protect_by_uffd(mm, *vma, part, UffdProtect::none);
  return register_vma(mm, vma, part, VmFlags::none, 0);
}

}  // namespace

Userfaultfd::~Userfaultfd() {
  if (mm_ == nullptr) return;
  Mm& mm = *mm_;
  mm.count(Counter::mmap_lock_write);
  for (Vma* vma = mm.vmas.find(Addr{0}); vma != nullptr;) {
    if (vma->uffd == id_) {
      const Result<Vma*> cleared = clear_vma(mm, vma, vma->range(), EndOfWatch::by_close);
      if (cleared) vma = *cleared;  // a whole VMA needs no split, so that nothing can fail
    }
    vma = mm.vmas.next(*vma);
  }
  mm.uffds[static_cast<std::size_t>(id_) - 1] = nullptr;
}

Result<Range> Userfaultfd::checked(Addr start, std::uint64_t length) const {
  const std::uint64_t task_size =
      arch::geometry(mm_ == nullptr ? arch::Arch::x86_64 : mm_->profile().arch).task_size.value;
  const bool whole = start.page_aligned() && (length & (kPageSize - 1)) == 0 && length != 0;
  if (stage_ == Stage::opened || !whole || start.value >= task_size || length > task_size - start.value) {
    return fail(EINVAL);
  }
  return Range::of(start, length);
}

Result<void> Userfaultfd::enable(std::uint64_t api, UffdFeatures features) {
  if (api != kApi) return fail(EINVAL);
  if (mm_ == nullptr) return fail(ESRCH);
  const UffdFeatures known = mm_->profile().uffd_features;
  if (has(features, UffdFeatures::event_fork)) return fail(EPERM);
  if (has(features, UffdFeatures::wp_async)) features |= UffdFeatures::wp_unpopulated;
  if (has(features, ~known) || stage_ == Stage::enabled) return fail(EINVAL);
  stage_ = Stage::enabled;
  features_ = features;
  return {};
}

Result<void> Userfaultfd::watch(Addr start, std::uint64_t length, UffdModes modes) {
  if (stage_ == Stage::opened || modes == UffdModes::none || has(modes, ~(UffdModes::missing | UffdModes::wp))) {
    return fail(EINVAL);
  }
  const VmFlags how = flags_of(modes);
  if (mm_ != nullptr && has(how, VmFlags::uffd_wp) &&
      !has(mm_->profile().uffd_features, UffdFeatures::pagefault_flag_wp)) {
    return fail(EINVAL);
  }
  const Result<Range> range = checked(start, length);
  if (!range) return std::unexpected(range.error());
  if (mm_ == nullptr) return fail(ENOMEM);
  Mm& mm = *mm_;
  mm.count(Counter::mmap_lock_write);
  if (mm.vmas.first_in(*range) == nullptr) return mm.refuse(EINVAL, Rule::hole, *range);
  const auto fine = each_over_holes(mm, *range, [&](Vma* vma, Range) -> Result<Vma*> {
    if (!can_be_watched(mm.profile(), *vma, how)) return mm.refuse(EINVAL, Rule::bad_argument, vma->range());
    if (!vma->is(VmFlags::may_write)) return mm.refuse(EPERM, Rule::file_permission, vma->range());
    if (vma->uffd != 0 && vma->uffd != id_) return mm.refuse(EBUSY, Rule::bad_argument, vma->range());
    const bool loses_wp = vma->is(VmFlags::uffd_wp) && !has(how, VmFlags::uffd_wp);
    if (loses_wp && mm.profile().uffd_remode == UffdRemode::wp_stays) {
      return mm.refuse(EBUSY, Rule::bad_argument, vma->range());
    }
    return vma;
  });
  if (!fine) return std::unexpected(fine.error());
  const auto done = each_over_holes(mm, *range, [&](Vma* vma, Range part) -> Result<Vma*> {
    if (vma->uffd == id_ && (vma->flags & how) == how) return vma;
    return register_vma(mm, vma, part, how, id_);
  });
  if (!done) return std::unexpected(done.error());
  return {};
}

Result<void> Userfaultfd::unwatch(Addr start, std::uint64_t length) {
  const Result<Range> range = checked(start, length);
  if (!range) return std::unexpected(range.error());
  if (mm_ == nullptr) return fail(ENOMEM);
  Mm& mm = *mm_;
  mm.count(Counter::mmap_lock_write);
  if (mm.vmas.first_in(*range) == nullptr) return mm.refuse(EINVAL, Rule::hole, *range);
  const auto fine = each_over_holes(mm, *range, [&](Vma* vma, Range) -> Result<Vma*> {
    if (can_be_watched(mm.profile(), *vma, VmFlags::none)) return vma;
    return mm.refuse(EINVAL, Rule::bad_argument, vma->range());
  });
  if (!fine) return std::unexpected(fine.error());
  const auto done = each_over_holes(mm, *range, [&](Vma* vma, Range part) -> Result<Vma*> {
    if (vma->uffd == 0) return vma;
    return clear_vma(mm, vma, part, EndOfWatch::by_request);
  });
  if (!done) return std::unexpected(done.error());
  return {};
}

Result<void> Userfaultfd::wake(Addr start, std::uint64_t length) {
  const Result<Range> range = checked(start, length);
  if (!range) return std::unexpected(range.error());
  return {};
}

Result<void> Userfaultfd::write_protect(Addr start, std::uint64_t length, UffdProtect mode) {
  const Result<Range> range = checked(start, length);
  if (!range) return std::unexpected(range.error());
  constexpr UffdProtect kKnown = UffdProtect::wp | UffdProtect::dontwake;
  if (has(mode, ~kKnown) || mode == kKnown) return fail(EINVAL);
  if (mm_ == nullptr) return fail(ESRCH);
  Mm& mm = *mm_;
  mm.count(Counter::mmap_lock_read);
  const auto absent = [&] { return mm.refuse(ENOENT, Rule::not_watched, *range); };
  Vma* vma = mm.vmas.first_in(*range);
  if (vma == nullptr) return absent();
  if (mm.profile().uffd_range == UffdRange::one_mapping) {
    // The mapping is looked up by the range, and has to hold all of it.
    if (!vma->range().contains(*range)) return absent();
  }
  for (; vma != nullptr && vma->start < range->end; vma = mm.vmas.next(*vma)) {
    visit_vma(mm);
    if (!vma->is(VmFlags::uffd_wp)) return absent();
    protect_by_uffd(mm, *vma, range->intersect(vma->range()), mode);
  }
  return {};
}

namespace {

/// Fills page by page, as far as that goes: EAGAIN where it stopped after the first. `page_of(i)` gives the bytes of
/// the i-th page, none for zeroes, or why they cannot be had.
template <class PageOf>
Result<void> fill(Mm& mm, Range range, UffdFill mode, PageOf page_of) {
  Vma* vma = mm.vmas.at(range.start);
  const bool locks_vma =
      mm.profile().uffd_lock == UffdLock::per_vma && vma != nullptr && (vma->is(VmFlags::shared) || vma->anon_vma != 0);
  mm.count(locks_vma ? Counter::vma_lock : Counter::mmap_lock_read);
  if (vma == nullptr) return mm.refuse(ENOENT, Rule::not_watched, range);
  if (mm.profile().uffd_lock == UffdLock::per_vma && !vma->is(VmFlags::shared)) prepare_anon_vma(mm, *vma);
  if (range.end > vma->end || vma->uffd == 0) return mm.refuse(ENOENT, Rule::not_watched, range);
  if (has(mode, UffdFill::wp) && !vma->is(VmFlags::uffd_wp)) return mm.refuse(EINVAL, Rule::not_watched, range);
  if (!vma->is(VmFlags::shared)) prepare_anon_vma(mm, *vma);
  for (Addr at = range.start; at < range.end; at = at + kPageSize) {
    Result<void> filled;
    const auto bytes = page_of((at - range.start) >> kPageShift);
    if (!bytes) {
      filled = std::unexpected(bytes.error());
    } else {
      filled = fill_page(mm, *vma, at, *bytes, mode);
    }
    if (!filled && at == range.start) return mm.refuse(filled.error().value, Rule::bad_argument, range);
    if (!filled) return fail(EAGAIN);
  }
  return {};
}

}  // namespace

Result<void> Userfaultfd::copy(AddressSpace& caller, Addr target, Addr source, std::uint64_t length, UffdFill mode) {
  // The source need not begin at a page, from 6.6 on nor be one of whole pages' addresses.
  const Result<Range> from = checked(source.page_floor(), length);
  const Result<Range> range = checked(target, length);
  if (!from || !range || has(mode, ~(UffdFill::dontwake | UffdFill::wp))) return fail(EINVAL);
  if (mm_ == nullptr) return fail(ESRCH);
  std::array<std::uint8_t, kPageSize> page{};
  return fill(*mm_, *range, mode, [&](std::uint64_t index) -> Result<std::span<const std::uint8_t>> {
    const Addr at = source + (index << kPageShift);
    // First without faults, then again with them.
    const bool at_once = caller.copy_from_user_inatomic(page, at) == page.size();
    if (!at_once && caller.copy_from_user(page, at) < page.size()) return fail(EFAULT);
    return std::span<const std::uint8_t>(page);
  });
}

Result<void> Userfaultfd::zero_page(Addr start, std::uint64_t length, UffdFill mode) {
  const Result<Range> range = checked(start, length);
  if (!range || has(mode, ~UffdFill::dontwake)) return fail(EINVAL);
  if (mm_ == nullptr) return fail(ESRCH);
  return fill(*mm_, *range, mode,
              [](std::uint64_t) -> Result<std::span<const std::uint8_t>> { return std::span<const std::uint8_t>(); });
}

}  // namespace faultline::mm
