#include "mm/vma_tree.h"

#include <iterator>

namespace faultline::mm {

VmaTree::VmaTree(const VmaTree& other) : gaps_(other.gaps_) {
  Vma* last = nullptr;
  for (const auto& [start, vma] : other.by_start_) {
    Vma* copy = allocate(*vma);
    link(last, copy, nullptr);
    by_start_.emplace_hint(by_start_.end(), start, copy);
    last = copy;
  }
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
  by_start_.erase(vma->start.value);
  free_.push_back(vma);
  if (vma->object != nullptr) unshare(vma->object);
}

void VmaTree::share(Shmem* object) {
  Share& share = shares_[object];
  if (++share.vmas == 1) share.object = object->shared_from_this();
}

void VmaTree::unshare(Shmem* object) {
  const auto share = shares_.find(object);
  if (--share->second.vmas == 0) shares_.erase(share);
}

Vma* VmaTree::allocate(const Vma& vma) {
  Vma* slot = nullptr;
  if (!free_.empty()) {
    slot = free_.back();
    free_.pop_back();
  } else {
    if (used_in_last_ == kSlab) {
      slabs_.push_back(std::make_unique<Vma[]>(kSlab));
      used_in_last_ = 0;
    }
    slot = &slabs_.back()[used_in_last_++];
  }
  *slot = vma;
  if (vma.object != nullptr) share(vma.object);
  return slot;
}

Vma* VmaTree::find(Addr addr) const {
  if (last_found_ != nullptr && last_found_->start <= addr && addr < last_found_->end) return last_found_;
  auto it = by_start_.upper_bound(addr.value);
  if (it != by_start_.begin()) {
    Vma* lower = std::prev(it)->second;
    if (addr < lower->end) return last_found_ = lower;
  }
  return it == by_start_.end() ? nullptr : it->second;
}

Vma* VmaTree::before(Addr addr) const {
  auto it = by_start_.lower_bound(addr.value);
  if (it == by_start_.begin()) return nullptr;
  Vma* below = std::prev(it)->second;
  return below->end <= addr ? below : below->lower;
}

Vma* VmaTree::insert(const Vma& vma) {
  Vma* slot = allocate(vma);
  const auto at = by_start_.emplace(vma.start.value, slot).first;
  const auto above = std::next(at);
  link(at == by_start_.begin() ? nullptr : std::prev(at)->second, slot,
       above == by_start_.end() ? nullptr : above->second);
  gaps_.take(vma.range());
  return slot;
}

void VmaTree::erase(Vma* vma) {
  gaps_.give(vma->range());
  remove(vma);
}

Vma* VmaTree::split(Vma* vma, Addr addr) {
  Vma* upper = allocate(*vma);
  upper->start = addr;
  upper->pgoff = vma->pgoff_at(addr);
  vma->end = addr;
  link(vma, upper, vma->upper);
  by_start_.emplace(addr.value, upper);
  return upper;
}

void VmaTree::set_start(Vma* vma, Addr start) {
  const Addr old = vma->start;
  if (start < old) {
    gaps_.take({start, old});
    vma->pgoff -= (old - start) >> kPageShift;
  } else {
    gaps_.give({old, start});
    vma->pgoff += (start - old) >> kPageShift;
  }
  by_start_.erase(old.value);
  vma->start = start;
  by_start_.emplace(start.value, vma);
}

void VmaTree::set_end(Vma* vma, Addr end) {
  if (end > vma->end) {
    gaps_.take({vma->end, end});
  } else {
    gaps_.give({end, vma->end});
  }
  vma->end = end;
}

void VmaTree::absorb_next(Vma* vma, Vma* next) {
  vma->end = next->end;
  remove(next);
}

void VmaTree::absorb_prev(Vma* vma, Vma* prev) {
  vma->pgoff -= prev->pages();
  const Addr start = prev->start;
  remove(prev);
  by_start_.erase(vma->start.value);
  vma->start = start;
  by_start_.emplace(start.value, vma);
}

void VmaTree::move_bound(Vma* lower, Vma* upper, Addr bound) {
  upper->pgoff += (bound.value >> kPageShift) - (upper->start.value >> kPageShift);
  by_start_.erase(upper->start.value);
  lower->end = bound;
  upper->start = bound;
  by_start_.emplace(bound.value, upper);
}

}  // namespace faultline::mm
