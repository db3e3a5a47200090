#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/page.h"

namespace faultline::mm {

/// Number of a page frame in its FramePool. Frame 0 is the shared zero page.
struct FrameId {
  std::uint32_t index = 0;
  bool operator==(const FrameId&) const = default;
};
inline constexpr FrameId kZeroFrame{0};

/// Does exactly one process own an anonymous page, so that it may be written in place (PageAnonExclusive, A.7)?
enum class Exclusive : std::uint8_t { no, yes };

/// One 4 KiB page of physical memory: what struct page is to the kernel. Twelve bytes, since there is one per touched
/// page.
class Frame {
 public:
  /// References: PTEs, and whatever else holds the page (pins, caches). page_count().
  std::uint32_t references() const { return references_; }
  /// PTEs that map the page. page_mapcount().
  std::uint32_t mappings() const { return mappings_ & kMappingsMask; }
  Exclusive exclusive() const { return (mappings_ & kExclusiveBit) != 0 ? Exclusive::yes : Exclusive::no; }
  void set_exclusive(Exclusive value) {
    mappings_ = value == Exclusive::yes ? mappings_ | kExclusiveBit : mappings_ & ~kExclusiveBit;
  }
  /// Does the page belong to an object's cache? If not, it is anonymous (PageAnon).
  bool cached() const { return (mappings_ & kCachedBit) != 0; }
  void set_cached() { mappings_ |= kCachedBit; }

 private:
  friend class FramePool;
  static constexpr std::uint32_t kExclusiveBit = 1U << 31;
  static constexpr std::uint32_t kCachedBit = 1U << 30;
  static constexpr std::uint32_t kMappingsMask = kCachedBit - 1;

  std::uint32_t references_ = 0;
  std::uint32_t mappings_ = 0;
  std::uint32_t content_ = 0;  // see FramePool
};

/// The machine's physical memory: frames with their reference counts and contents. Frame ids are stable.
/// A page of which only the first bytes were written keeps them in the frame itself; any other page gets a buffer.
class FramePool {
 public:
  FramePool();

  /// A zero-filled frame with one reference and no mapping.
  FrameId allocate();
  /// A frame with the contents of `source`, one reference and no mapping.
  FrameId allocate_copy(FrameId source);

  /// A PTE begins to map the frame: takes a reference too. Nothing is counted on the zero page.
  void map(FrameId id);
  /// A PTE ceases to map the frame; the frame is freed with its last reference.
  void unmap(FrameId id);
  /// A further reference that is not a mapping (a pin, a cache), and its end.
  void get(FrameId id) { ++at(id).references_; }
  void put(FrameId id);

  Frame& at(FrameId id) { return chunks_[id.index >> kChunkShift][id.index & kChunkMask]; }
  const Frame& at(FrameId id) const { return chunks_[id.index >> kChunkShift][id.index & kChunkMask]; }

  /// The byte at `offset` (below 4096) of the frame.
  std::uint8_t peek(FrameId id, std::uint64_t offset) const;
  void poke(FrameId id, std::uint64_t offset, std::uint8_t value);
  /// The little-endian 64-bit word at `offset`, a multiple of 8.
  std::uint64_t peek_word(FrameId id, std::uint64_t offset) const;
  void poke_word(FrameId id, std::uint64_t offset, std::uint64_t value);

  /// The bytes from `offset` on, as many as there is room for in `bytes`; both end inside the page.
  void read(FrameId id, std::uint64_t offset, std::span<std::uint8_t> bytes) const;
  void write(FrameId id, std::uint64_t offset, std::span<const std::uint8_t> bytes);
  /// Makes the bytes [from, to) zero.
  void clear(FrameId id, std::uint64_t from, std::uint64_t to);

  /// Frames in use, the zero page not counted.
  std::uint64_t live() const { return live_; }

 private:
  static constexpr unsigned kChunkShift = 12;
  static constexpr std::uint32_t kChunkMask = (1U << kChunkShift) - 1;
  using Chunk = std::unique_ptr<Frame[]>;
  using Buffer = std::array<std::uint8_t, kPageSize>;
  // content_ is either the page's first four bytes, little-endian and below 2^31, the rest being zero; or kBuffered
  // plus the index of a buffer with all of them.
  static constexpr std::uint32_t kBuffered = 1U << 31;

  Buffer& buffer_of(Frame& frame);
  void release_content(Frame& frame);

  std::vector<Chunk> chunks_;
  std::uint32_t next_ = 0;
  std::vector<std::uint32_t> free_;
  std::uint64_t live_ = 0;
  std::vector<std::unique_ptr<Buffer>> buffers_;
  std::vector<std::uint32_t> free_buffers_;
};

// Writing the same byte again, or a small value at the page's start, is what programs do in their hot loops.
inline std::uint8_t FramePool::peek(FrameId id, std::uint64_t offset) const {
  const std::uint32_t content = at(id).content_;
  if ((content & kBuffered) != 0) return (*buffers_[content & ~kBuffered])[offset];
  return offset < 4 ? static_cast<std::uint8_t>(content >> (8 * offset)) : 0;
}

inline void FramePool::poke(FrameId id, std::uint64_t offset, std::uint8_t value) {
  if (peek(id, offset) == value) return;
  Frame& frame = at(id);
  const bool fits = offset < 3 || (offset == 3 && value < 0x80);
  if ((frame.content_ & kBuffered) == 0 && fits) {
    const auto shift = static_cast<unsigned>(8 * offset);
    frame.content_ = (frame.content_ & ~(0xFFU << shift)) | (std::uint32_t{value} << shift);
    return;
  }
  buffer_of(frame)[offset] = value;
}

}  // namespace faultline::mm
