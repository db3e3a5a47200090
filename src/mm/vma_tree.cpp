#include "mm/vma_tree.h"

#include <iterator>
#include <stdexcept>

namespace faultline::mm {

VmaTree::VmaTree(const VmaTree& other)
    : gaps_(other.gaps_), follower_(other.follower_ ? other.follower_->clone() : nullptr) {
  Vma* last = nullptr;
  for (const Key theirs : other.order_) {
    const Vma& original = *other.in_slot(theirs);
    const Key own = key(original.start, allocate(original));
    Vma* copy = in_slot(own);
    link(last, copy, nullptr);
    order_.insert(order_.end(), own);
    last = copy;
  }
}

void VmaTree::count_work(std::unique_ptr<TreeFollower> follower) {
  follower_ = std::move(follower);
  for (const Key key : order_) follower_->added(in_slot(key)->range());
}

void VmaTree::link(Vma* lower, Vma* vma, Vma* upper) {
  vma->lower = lower;
  vma->upper = upper;
  if (lower != nullptr) lower->upper = vma;
  if (upper != nullptr) upper->lower = vma;
}

void VmaTree::remove(Vma* vma) {
  if (last_found_ == vma) last_found_ = nullptr;
  if (vma->lower != nullptr) vma->lower->upper = vma->upper;
  if (vma->upper != nullptr) vma->upper->lower = vma->lower;
  const auto at = place(*vma);
  free_.push_back(static_cast<std::uint32_t>(*at & kSlotMask));
  order_.erase(at);
  if (vma->object != nullptr) unshare(vma->object);
  if (vma->is(VmFlags::grows_down)) --growing_;
}

void VmaTree::share(Shmem* object) {
  Share& share = shares_[object];
  if (++share.vmas == 1) share.object = object->shared_from_this();
}

void VmaTree::unshare(Shmem* object) {
  const auto share = shares_.find(object);
  if (--share->second.vmas == 0) shares_.erase(share);
}

std::uint64_t VmaTree::allocate(const Vma& vma) {
  std::uint64_t slot = 0;
  if (!free_.empty()) {
    slot = free_.back();
    free_.pop_back();
  } else {
    slot = used_slots_++;
    if (slot > kSlotMask) throw std::length_error("more VMAs than the model has numbers for");
    if (slot % kSlab == 0) slabs_.push_back(std::make_unique<Vma[]>(kSlab));
  }
  *in_slot(slot) = vma;
  if (vma.object != nullptr) share(vma.object);
  if (vma.is(VmFlags::grows_down)) ++growing_;
  return slot;
}

Vma* VmaTree::find(Addr addr) const {
  if (last_found_ != nullptr && last_found_->start <= addr && addr < last_found_->end) return last_found_;
  const auto above = order_.upper_bound(key(addr, kSlotMask));
  if (above == order_.begin()) return above == order_.end() ? nullptr : in_slot(*above);
  // Whoever looks for a VMA looks at its neighbours next, to merge with them. Among a million each is a cache miss.
  if (above != order_.end()) __builtin_prefetch(in_slot(*above), 1);
  const auto at = std::prev(above);
  if (at != order_.begin()) __builtin_prefetch(in_slot(*std::prev(at)), 1);
  Vma* lower = in_slot(*at);
  return addr < lower->end ? last_found_ = lower : lower->upper;
}

Vma* VmaTree::before(Addr addr) const {
  const auto at = order_.lower_bound(key(addr, 0));
  if (at == order_.begin()) return nullptr;
  Vma* below = in_slot(*std::prev(at));
  return below->end <= addr ? below : below->lower;
}

Vma* VmaTree::insert(const Vma& vma) {
  const Key own = key(vma.start, allocate(vma));
  Vma* added = in_slot(own);
  const auto at = order_.insert(own).first;
  const auto above = std::next(at);
  link(at == order_.begin() ? nullptr : in_slot(*std::prev(at)), added,
       above == order_.end() ? nullptr : in_slot(*above));
  gaps_.take(vma.range());
  if (follower_ != nullptr) follower_->added(vma.range());
  return added;
}

void VmaTree::erase(Vma* vma) {
  gaps_.give(vma->range());
  if (follower_ != nullptr) follower_->removed(vma->range());
  remove(vma);
}

Vma* VmaTree::split(Vma* vma, Addr addr, NewPart made) {
  const Key own = key(addr, allocate(*vma));
  Vma* upper = in_slot(own);
  upper->start = addr;
  upper->pgoff = vma->pgoff_at(addr);
  vma->end = addr;
  link(vma, upper, vma->upper);
  order_.insert(own);
  if (follower_ != nullptr) follower_->split(vma->range(), upper->range(), made);
  return upper;
}

void VmaTree::move_start(Vma* vma, Addr start) {
  const auto at = place(*vma);
  const Key moved = key(start, *at & kSlotMask);
  order_.insert(order_.erase(at), moved);
  vma->start = start;
}

void VmaTree::set_start(Vma* vma, Addr start) {
  const Addr old = vma->start;
  if (start < old) {
    gaps_.take({start, old});
    vma->pgoff -= (old - start) >> kPageShift;
    if (follower_ != nullptr) follower_->grown_down(vma->range(), {start, vma->end});
  } else {
    gaps_.give({old, start});
    vma->pgoff += (start - old) >> kPageShift;
    if (follower_ != nullptr) follower_->shrunk(vma->range(), {old, start});
  }
  move_start(vma, start);
}

void VmaTree::set_end(Vma* vma, Addr end) {
  if (end > vma->end) {
    gaps_.take({vma->end, end});
    if (follower_ != nullptr) follower_->grown_up({vma->start, end});
  } else {
    gaps_.give({end, vma->end});
    if (follower_ != nullptr) follower_->shrunk(vma->range(), {end, vma->end});
  }
  vma->end = end;
}

void VmaTree::absorb_next(Vma* vma, Vma* next) {
  vma->end = next->end;
  remove(next);
  if (follower_ != nullptr) follower_->took_next(vma->range());
}

void VmaTree::absorb_prev(Vma* vma, Vma* prev) {
  vma->pgoff -= prev->pages();
  const Addr start = prev->start;
  remove(prev);
  move_start(vma, start);
  if (follower_ != nullptr) follower_->took_prev(vma->range());
}

void VmaTree::move_bound(Vma* lower, Vma* upper, Addr bound) {
  const Addr before = lower->end;
  upper->pgoff += (bound.value >> kPageShift) - (upper->start.value >> kPageShift);
  lower->end = bound;
  move_start(upper, bound);
  if (follower_ != nullptr) follower_->bound_moved(lower->range(), upper->range(), before);
}

}  // namespace faultline::mm
