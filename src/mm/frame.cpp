#include "mm/frame.h"

#include <bit>
#include <cstring>

namespace faultline::mm {

static_assert(sizeof(Frame) == 12, "one per touched page: see the memory bounds in bench/");
static_assert(std::endian::native == std::endian::little, "page contents are little-endian, as both architectures are");

FramePool::FramePool() {
  allocate();  // frame 0 is the zero page
  live_ = 0;
}

/// Frames that were never used, in a row.
std::uint32_t FramePool::take_new(std::uint32_t count) {
  const std::uint32_t first = next_;
  next_ += count;
  while (chunks_.size() <= ((next_ - 1) >> kChunkShift)) {
    chunks_.push_back(std::make_unique<Frame[]>(std::size_t{1} << kChunkShift));
  }
  return first;
}

FrameId FramePool::allocate() {
  FrameId id;
  if (free_.empty()) {
    id.index = take_new(1);
  } else {
    id.index = free_.back();
    free_.pop_back();
  }
  at(id) = Frame{};
  at(id).references_ = 1;
  ++live_;
  return id;
}

FrameId FramePool::allocate_copy(FrameId source) {
  const FrameId id = allocate();
  copy_content(id, source);
  return id;
}

FrameId FramePool::allocate_huge() {
  FrameId head;
  if (free_huge_.empty()) {
    head.index = take_new(kHugePages);
  } else {
    head.index = free_huge_.back();
    free_huge_.pop_back();
  }
  for (std::uint32_t i = 0; i < kHugePages; ++i) {
    Frame& frame = at({head.index + i});
    frame = Frame{};
    frame.references_ = i == 0 ? Frame::kHead | 1 : Frame::kTail | i;
  }
  live_ += kHugePages;
  had_large_ = true;
  return head;
}

void FramePool::copy_content(FrameId target, FrameId source) {
  Frame& copy = at(target);
  const std::uint32_t content = at(source).content_;
  release_content(copy);
  if ((content & kBuffered) == 0) {
    copy.content_ = content;
  } else {
    Buffer& buffer = buffer_of(copy);
    buffer = *buffers_[content & ~kBuffered];
  }
}

void FramePool::map(FrameId id, PageSize size) {
  if (id == kZeroFrame) return;
  get(id);
  count_mapping(id, size);
}

void FramePool::unmap(FrameId id, PageSize size) {
  if (id == kZeroFrame) return;
  --at(id).mappings_;
  if (size == PageSize::huge) {
    for (std::uint32_t i = 1; i < kHugePages; ++i) --at({id.index + i}).mappings_;
  }
  put(id);
}

void FramePool::pin(FrameId id) {
  get(id);
  ++pins_[head(id).index];
}

void FramePool::unpin(FrameId id) {
  const auto pins = pins_.find(head(id).index);
  if (--pins->second == 0) pins_.erase(pins);
  put(id);
}

void FramePool::put_large(FrameId id) {
  const FrameId first = head(id);
  if ((--at(first).references_ & Frame::kReferencesMask) != 0) return;
  for (std::uint32_t i = 0; i < kHugePages; ++i) release_content(at({first.index + i}));
  free_huge_.push_back(first.index);
  live_ -= kHugePages;
}

void FramePool::release(FrameId id) {
  release_content(at(id));
  free_.push_back(id.index);
  --live_;
}

void FramePool::remap_as_base(FrameId head) {
  at(head).references_ += kHugePages - 1;
  for (std::uint32_t i = 1; i < kHugePages; ++i) at({head.index + i}).set_exclusive(at(head).exclusive());
}

void FramePool::split_folio(FrameId head) {
  for (std::uint32_t i = 0; i < kHugePages; ++i) {
    const FrameId id{head.index + i};
    at(id).references_ = at(id).mappings();
    if (at(id).mappings() == 0) release(id);
  }
}

FramePool::Buffer& FramePool::buffer_of(Frame& frame) {
  if ((frame.content_ & kBuffered) == 0) {
    std::uint32_t slot = 0;
    if (free_buffers_.empty()) {
      slot = static_cast<std::uint32_t>(buffers_.size());
      buffers_.push_back(std::make_unique<Buffer>());
    } else {
      slot = free_buffers_.back();
      free_buffers_.pop_back();
      buffers_[slot] = std::make_unique<Buffer>();
    }
    std::memcpy(buffers_[slot]->data(), &frame.content_, sizeof frame.content_);
    frame.content_ = kBuffered | slot;
  }
  return *buffers_[frame.content_ & ~kBuffered];
}

void FramePool::release_content(Frame& frame) {
  if ((frame.content_ & kBuffered) != 0) {
    const std::uint32_t slot = frame.content_ & ~kBuffered;
    buffers_[slot].reset();
    free_buffers_.push_back(slot);
  }
  frame.content_ = 0;
}

void FramePool::read(FrameId id, std::uint64_t offset, std::span<std::uint8_t> bytes) const {
  for (std::uint8_t& byte : bytes) byte = peek(id, offset++);
}

void FramePool::write(FrameId id, std::uint64_t offset, std::span<const std::uint8_t> bytes) {
  for (const std::uint8_t byte : bytes) poke(id, offset++, byte);
}

void FramePool::clear(FrameId id, std::uint64_t from, std::uint64_t to) {
  for (std::uint64_t offset = from; offset < to; ++offset) poke(id, offset, 0);
}

bool FramePool::is_zero(FrameId id) const {
  const std::uint32_t content = at(id).content_;
  if ((content & kBuffered) == 0) return content == 0;
  return std::ranges::all_of(*buffers_[content & ~kBuffered], [](std::uint8_t byte) { return byte == 0; });
}

std::uint64_t FramePool::peek_word(FrameId id, std::uint64_t offset) const {
  const std::uint32_t content = at(id).content_;
  if ((content & kBuffered) == 0) return offset == 0 ? content : 0;
  std::uint64_t word = 0;
  std::memcpy(&word, buffers_[content & ~kBuffered]->data() + offset, sizeof word);
  return word;
}

void FramePool::poke_word(FrameId id, std::uint64_t offset, std::uint64_t value) {
  if (peek_word(id, offset) == value) return;
  Frame& frame = at(id);
  if ((frame.content_ & kBuffered) == 0 && offset == 0 && value < kBuffered) {
    frame.content_ = static_cast<std::uint32_t>(value);
    return;
  }
  std::memcpy(buffer_of(frame).data() + offset, &value, sizeof value);
}

}  // namespace faultline::mm
