#include "mm/vma_links.h"

namespace faultline::mm {

VmaLinks::VmaLinks(Beside beside, Range space, Addr heap) : top_(space.end) {
  // fork links them in one after the other, in order of address. The agent begins so far down that the
  // largest gap is not the one below it but the one between its heap and what is mapped.
  constexpr Addr kProgram{0x7000'0000};
  const auto page = [](Addr at) { return Range::of(at, kPageSize); };
  const std::uint64_t others = beside.apart + beside.below - 1;
  tree_.insert({kProgram, heap - others * kPageSize});
  for (std::uint64_t i = others; i > 0; --i) tree_.insert(page(heap - i * kPageSize));
  for (std::uint64_t i = 0; i < beside.above; ++i) tree_.insert(page(space.end + i * kPageSize));
  tree_.insert(page(space.end + 1024 * kPageSize));
  tree_.forget_work();
}

void VmaLinks::leave_gap(Id id) {
  if (gap_left_ != 0 && gap_left_ != id) tree_.update_gap(gap_left_);
  gap_left_ = id;
}

/// What was erased goes from the list, and the cache is forgotten.
void VmaLinks::detach() {
  if (detached_.empty()) return;
  const Id next = tree_.next(detached_.back());
  for (const Id id : detached_) tree_.unlink(id);
  detached_.clear();
  cache_valid_ = false;
  if (next != 0) tree_.update_gap(next);
}

void VmaLinks::end_merge() {
  detach();
  if (gap_left_ != 0) tree_.update_gap(gap_left_);
  gap_left_ = 0;
}

void VmaLinks::added(Range vma) {
  end_merge();
  tree_.insert(vma);
}

void VmaLinks::removed(Range vma) {
  const Id id = tree_.at(vma.start);
  if (detached_.empty() || tree_.next(detached_.back()) != id) end_merge();
  tree_.erase(id);
  detached_.push_back(id);
}

void VmaLinks::shrunk(Range before, Range gone) {
  end_merge();
  const Id id = tree_.at(before.start);
  const bool at_start = gone.start == before.start;
  tree_.move(id, at_start ? Range{gone.end, before.end} : Range{before.start, gone.start});
  leave_gap(at_start ? id : tree_.next(id));
}

void VmaLinks::split(Range lower, Range upper, NewPart made) {
  end_merge();
  const bool above = made == NewPart::upper;
  tree_.move(tree_.at(lower.start), above ? lower : upper);
  const Range added = above ? upper : lower;
  tree_.find_place(added);
  tree_.insert(added);
}

void VmaLinks::grown_up(Range vma) {
  end_merge();
  const Id id = tree_.at(vma.start);
  tree_.move(id, vma);
  leave_gap(tree_.next(id));
}

void VmaLinks::grown_down(Range before, Range vma) {
  end_merge();
  const Id id = tree_.at(before.start);
  tree_.move(id, vma);
  leave_gap(id);
}

void VmaLinks::erase(Id id) {
  tree_.erase(id);
  tree_.unlink(id);
  cache_valid_ = false;
}

void VmaLinks::took_next(Range vma) {
  detach();
  const Id id = tree_.at(vma.start);
  const Id next = tree_.next(id);
  tree_.move(id, vma);
  erase(next);
  // Of two neighbours that go at once, and of one that goes as free addresses are taken, the last gap is what counts.
  gap_left_ = tree_.next(id);
}

void VmaLinks::took_prev(Range vma) {
  end_merge();
  const Id prev = tree_.at(vma.start);
  const Id id = tree_.next(prev);
  tree_.move(id, vma);
  erase(prev);
  leave_gap(id);
}

void VmaLinks::bound_moved(Range lower, Range upper, Addr /*before*/) {
  end_merge();
  const Id id = tree_.at(lower.start);
  tree_.move(id, lower);
  tree_.move(tree_.next(id), upper);
}

void VmaLinks::sought(Addr addr, Lookup /*lookup*/) {
  end_merge();
  constexpr unsigned kSpanShift = 21;
  const auto first = static_cast<unsigned>(addr.value >> kSpanShift) % kSlots;
  if (cache_valid_) {
    for (unsigned i = 0; i < kSlots; ++i) {
      ++slots_seen_;
      const Id id = cache_[(first + i) % kSlots];
      if (id != 0 && tree_.range(id).contains(addr)) return;
    }
  } else {
    cache_.fill(0);
    cache_valid_ = true;
  }
  if (const Id id = tree_.find(addr); id != 0) cache_[first] = id;
}

void VmaLinks::sought_place(Range range) {
  end_merge();
  tree_.find_place(range);
}

void VmaLinks::sought_gap(std::uint64_t bytes) {
  end_merge();
  tree_.find_gap(bytes, top_);
}

TreeWork VmaLinks::work() {
  end_merge();
  TreeWork work = tree_.work();
  work.cache_slots = slots_seen_;
  return work;
}

}  // namespace faultline::mm
