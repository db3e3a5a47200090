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

FrameId FramePool::allocate() {
  std::uint32_t index = 0;
  if (free_.empty()) {
    index = next_++;
    if ((index >> kChunkShift) == chunks_.size()) {
      chunks_.push_back(std::make_unique<Frame[]>(std::size_t{1} << kChunkShift));
    }
  } else {
    index = free_.back();
    free_.pop_back();
  }
  const FrameId id{index};
  at(id) = Frame{};
  at(id).references_ = 1;
  ++live_;
  return id;
}

FrameId FramePool::allocate_copy(FrameId source) {
  const FrameId id = allocate();
  Frame& copy = at(id);
  const std::uint32_t content = at(source).content_;
  if ((content & kBuffered) == 0) {
    copy.content_ = content;
  } else {
    Buffer& target = buffer_of(copy);
    target = *buffers_[content & ~kBuffered];
  }
  return id;
}

void FramePool::map(FrameId id) {
  if (id == kZeroFrame) return;
  ++at(id).references_;
  ++at(id).mappings_;
}

void FramePool::unmap(FrameId id) {
  if (id == kZeroFrame) return;
  --at(id).mappings_;
  put(id);
}

void FramePool::put(FrameId id) {
  Frame& frame = at(id);
  if (--frame.references_ != 0) return;
  release_content(frame);
  free_.push_back(id.index);
  --live_;
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
