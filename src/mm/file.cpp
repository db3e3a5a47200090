#include "mm/file.h"

#include "mm/mm.h"

namespace faultline::mm {
namespace {

constexpr FileSeals kSeals =
    FileSeals::seal | FileSeals::shrink | FileSeals::grow | FileSeals::write | FileSeals::future_write;

/// Could the object be written through a mapping, now or after mprotect (i_mmap_writable)?
bool mapped_writable(const System& system, const Shmem& object) {
  bool found = false;
  for (const Mm* mm : system.spaces()) {
    mm->vmas.each({Addr{0}, mm->geometry().task_size}, [&](const Vma& vma) {
      // 5.10 counts read-only ones too, if they were made by a descriptor that is open for writing.
      const bool counts = vma.is(VmFlags::may_write) || system.profile().sealed_file == SealedFile::refuses_shared;
      found |= vma.object == &object && vma.is(VmFlags::shared) && counts;
    });
  }
  return found;
}

}  // namespace

Result<File> memfd_create(System& system, MemfdFlags flags) {
  MemfdFlags known = MemfdFlags::cloexec | MemfdFlags::allow_sealing | MemfdFlags::hugetlb;
  constexpr MemfdFlags kModes = MemfdFlags::noexec_seal | MemfdFlags::exec;
  if (system.profile().memfd_exec == MemfdExec::chosen) known |= kModes;
  if (has(flags, ~known) || (flags & kModes) == kModes) return fail(EINVAL);
  const auto object = std::make_shared<Shmem>(system.frames(), system.commit(), 0, Promise::page_by_page);
  // MFD_NOEXEC_SEAL seals the mode, which needs sealing to be allowed.
  if (!has(flags, MemfdFlags::allow_sealing | MemfdFlags::noexec_seal)) object->add_seals(FileSeals::seal);
  if (has(flags, MemfdFlags::noexec_seal)) object->add_seals(FileSeals::exec);
  return File{object, FileMode::read | FileMode::write};
}

Result<void> add_seals(System& system, const File& file, FileSeals seals) {
  const bool knows_exec = system.profile().memfd_exec == MemfdExec::chosen;
  if (!file.writable()) return fail(EPERM);
  if (has(seals, ~(knows_exec ? kSeals | FileSeals::exec : kSeals))) return fail(EINVAL);
  Shmem& object = *file.object;
  if (has(object.seals(), FileSeals::seal)) return fail(EPERM);
  // A memfd's mode lets it be executed, unless that is sealed already: then this makes it W^X from the start.
  if (has(seals, FileSeals::exec) && !has(object.seals(), FileSeals::exec)) {
    seals |= FileSeals::shrink | FileSeals::grow | FileSeals::write | FileSeals::future_write;
  }
  const bool newly_written = has(seals, FileSeals::write) && !has(object.seals(), FileSeals::write);
  if (newly_written && mapped_writable(system, object)) return fail(EBUSY);
  object.add_seals(seals);
  return {};
}

}  // namespace faultline::mm
