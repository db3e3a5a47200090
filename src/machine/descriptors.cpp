#include "machine/descriptors.h"

#include <algorithm>

namespace faultline::machine {

Result<std::uint64_t> Descriptors::install(OpenFile file) {
  auto slot = std::ranges::find(open_, nullptr);
  const auto fd = kFirst + static_cast<std::uint64_t>(slot - open_.begin());
  if (fd >= kLimit) return fail(EMFILE);
  if (slot == open_.end()) slot = open_.insert(slot, nullptr);
  *slot = std::make_shared<OpenFile>(std::move(file));
  return fd;
}

Result<void> Descriptors::close(std::uint64_t fd) {
  if (find(fd) == nullptr) return fail(EBADF);
  open_[static_cast<std::uint32_t>(fd) - kFirst].reset();
  return {};
}

OpenFile* Descriptors::find(std::uint64_t fd) const {
  fd = static_cast<std::uint32_t>(fd);
  return fd >= kFirst && fd - kFirst < open_.size() ? open_[fd - kFirst].get() : nullptr;
}

const mm::File* Descriptors::find_memfd(std::uint64_t fd) const {
  const OpenFile* open = find(fd);
  const Memfd* memfd = open == nullptr ? nullptr : std::get_if<Memfd>(open);
  return memfd == nullptr ? nullptr : &memfd->file;
}

}  // namespace faultline::machine
