#include "quarantine.h"

using namespace faultline;

Result<Addr> Quarantine::allocate() {
  constexpr Prot kReadWrite = Prot::read | Prot::write;
  if (reusable_.empty()) {
    return memory_.mmap(Addr{}, block_bytes_, kReadWrite, MapFlags::private_ | MapFlags::anonymous);
  }
  const Addr block = reusable_.back();
  if (const Result<void> made = memory_.mprotect(block, block_bytes_, kReadWrite); !made) {
    return std::unexpected(made.error());
  }
  reusable_.pop_back();
  return block;
}

Result<void> Quarantine::release(Addr block) {
  if (const Result<void> hidden = memory_.mprotect(block, block_bytes_, Prot::none); !hidden) return hidden;
  ring_.push_back(block);
  if (ring_.size() > slots_) {
    reusable_.push_back(ring_.front());
    ring_.pop_front();
  }
  return {};
}
