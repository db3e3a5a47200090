#include "mm/shmem.h"

#include <algorithm>

namespace faultline::mm {

Shmem::~Shmem() {
  drop(0, ~std::uint64_t{0});
  if (promise_ == Promise::whole) commit_.give_back(pages());
}

Result<FrameId> Shmem::add(std::uint64_t page) {
  if (promise_ == Promise::page_by_page && !commit_.charge(1)) return fail(ENOSPC);
  const FrameId frame = frames_.allocate();
  frames_.at(frame).set_cached();
  cache_.emplace(page, frame);
  return frame;
}

void Shmem::read(std::uint64_t offset, std::span<std::uint8_t> bytes) const {
  while (!bytes.empty()) {
    const std::uint64_t inside = offset & (kPageSize - 1);
    const auto part = bytes.first(std::min<std::uint64_t>(bytes.size(), kPageSize - inside));
    if (const auto frame = find(offset >> kPageShift)) {
      frames_.read(*frame, inside, part);
    } else {
      std::ranges::fill(part, 0);
    }
    offset += part.size();
    bytes = bytes.subspan(part.size());
  }
}

Result<void> Shmem::write(std::uint64_t offset, std::span<const std::uint8_t> bytes) {
  const std::uint64_t page = offset >> kPageShift;
  auto frame = find(page);
  if (!frame) {
    const Result<FrameId> added = add(page);
    if (!added) return std::unexpected(added.error());
    frame = *added;
  }
  frames_.write(*frame, offset & (kPageSize - 1), bytes);
  frames_.at(*frame).set_dirty();
  return {};
}

void Shmem::drop(std::uint64_t first, std::uint64_t last) {
  const auto begin = cache_.lower_bound(first);
  const auto end = cache_.lower_bound(last);
  std::uint64_t dropped = 0;
  for (auto at = begin; at != end; ++at, ++dropped) frames_.put(at->second);
  if (promise_ == Promise::page_by_page) commit_.give_back(dropped);
  cache_.erase(begin, end);
}

}  // namespace faultline::mm
