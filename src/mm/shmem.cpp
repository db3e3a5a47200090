#include "mm/shmem.h"

#include <algorithm>

namespace faultline::mm {
namespace {

/// Cuts a range of bytes at page boundaries: `visit(page, offset in it, bytes of it)`.
template <class Byte, class Visit>
void each_page(std::uint64_t offset, std::span<Byte> bytes, Visit visit) {
  while (!bytes.empty()) {
    const std::uint64_t inside = offset & (kPageSize - 1);
    const std::uint64_t count = std::min<std::uint64_t>(bytes.size(), kPageSize - inside);
    visit(offset >> kPageShift, inside, bytes.first(count));
    offset += count;
    bytes = bytes.subspan(count);
  }
}

}  // namespace

FrameId Shmem::add(std::uint64_t page) {
  const FrameId frame = frames_.allocate();
  frames_.at(frame).set_cached();
  cache_.emplace(page, frame);
  return frame;
}

void Shmem::read(std::uint64_t offset, std::span<std::uint8_t> bytes) const {
  each_page(offset, bytes, [&](std::uint64_t page, std::uint64_t inside, std::span<std::uint8_t> part) {
    if (const auto frame = find(page)) {
      frames_.read(*frame, inside, part);
    } else {
      std::ranges::fill(part, 0);
    }
  });
}

void Shmem::write(std::uint64_t offset, std::span<const std::uint8_t> bytes) {
  each_page(offset, bytes, [&](std::uint64_t page, std::uint64_t inside, std::span<const std::uint8_t> part) {
    const auto frame = find(page);
    frames_.write(frame ? *frame : add(page), inside, part);
  });
}

void Shmem::drop(std::uint64_t first, std::uint64_t last) {
  const auto begin = cache_.lower_bound(first);
  const auto end = cache_.lower_bound(last);
  for (auto at = begin; at != end; ++at) frames_.put(at->second);
  cache_.erase(begin, end);
}

}  // namespace faultline::mm
