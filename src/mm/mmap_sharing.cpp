#include "mm/mmap_sharing.h"

namespace faultline::mm {
namespace {

/// What MAP_SHARED_VALIDATE knows of, besides the type (LEGACY_MAP_MASK, with the bits that select a huge page size).
constexpr std::uint64_t kLegacyFlags = 0x7c07f9f3;

std::unexpected<Errno> refuse(Mm& mm, int error) { return mm.refuse(error, Rule::bad_argument, {}); }

/// A write seal lets nobody map the file for writing, now or by mprotect later.
Result<VmFlags> without_writers(Mm& mm, VmFlags flags, const File& file) {
  constexpr FileSeals kWrite = FileSeals::write | FileSeals::future_write;
  if (!has(flags, VmFlags::shared) || !has(file.object->seals(), kWrite)) return flags;
  const bool refuses_all =
      mm.profile().sealed_file == SealedFile::refuses_shared && has(file.object->seals(), FileSeals::write);
  if (refuses_all || has(flags, VmFlags::write)) return refuse(mm, EPERM);
  return flags & ~VmFlags::may_write;
}

/// Does mmap look at the write seals of a file before it makes room? That of mappings to come is the file's own to look
/// at until 6.12.
bool looks_early(const Profile& profile, const File& file) {
  switch (profile.mmap_order) {
    case MmapOrder::unmaps_first:
      return false;
    case MmapOrder::seals_first:
      return has(file.object->seals(), FileSeals::write);
    case MmapOrder::checks_first:
      return true;
  }
  return true;
}

Result<VmFlags> file_flags(Mm& mm, VmFlags flags, MapFlags type, const File& file, std::uint64_t pgoff,
                           std::uint64_t bytes) {
  if (bytes > kLargestFile || pgoff > (kLargestFile - bytes) >> kPageShift) return refuse(mm, EOVERFLOW);
  const bool shared = (type & MapFlags::type_mask) == MapFlags::shared;
  const bool validated = (type & MapFlags::type_mask) == MapFlags::shared_validate;
  if (!shared && !validated && (type & MapFlags::type_mask) != MapFlags::private_) return refuse(mm, EINVAL);
  if (validated && has(type, ~static_cast<MapFlags>(kLegacyFlags))) return refuse(mm, EOPNOTSUPP);
  if (shared || validated) {
    if (has(flags, VmFlags::write) && !file.writable()) return refuse(mm, EACCES);
    flags |= VmFlags::shared | VmFlags::may_share;
    if (!file.writable()) flags &= ~(VmFlags::may_write | VmFlags::shared);
  }
  if (!file.readable()) return refuse(mm, EACCES);
  if (has(type, MapFlags::grows_down)) return refuse(mm, EINVAL);
  return looks_early(mm.profile(), file) ? without_writers(mm, flags, file) : Result<VmFlags>(flags);
}

}  // namespace

Result<VmFlags> sharing_flags(Mm& mm, VmFlags flags, MapFlags type, const File* file, std::uint64_t pgoff,
                              std::uint64_t bytes) {
  if (file != nullptr) return file_flags(mm, flags, type, *file, pgoff, bytes);
  switch (type & MapFlags::type_mask) {
    case MapFlags::private_:
      return flags;
    case MapFlags::shared:
      if (has(type, MapFlags::grows_down)) return refuse(mm, EINVAL);
      return flags | VmFlags::shared | VmFlags::may_share;
    case MapFlags::droppable:
      if (mm.profile().droppable == Droppable::absent) return refuse(mm, EINVAL);
      if (has(type, MapFlags::locked | MapFlags::hugetlb | MapFlags::grows_down)) return refuse(mm, EINVAL);
      // What may be gone at any time is promised to nobody, and neither copied by fork nor dumped.
      return flags | VmFlags::droppable | VmFlags::noreserve | VmFlags::wipeonfork | VmFlags::dontdump;
    default:
      return refuse(mm, EINVAL);
  }
}

Result<VmFlags> flags_of_file(Mm& mm, VmFlags flags, const File& file) {
  return looks_early(mm.profile(), file) ? Result<VmFlags>(flags) : without_writers(mm, flags, file);
}

}  // namespace faultline::mm
