#pragma once

#include <absl/container/flat_hash_map.h>

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

/// Base pages of a huge page, which one PMD maps: 2 MiB on both architectures.
inline constexpr std::uint32_t kHugePages = 512;
inline constexpr std::uint64_t kHugeBytes = kHugePages * kPageSize;
constexpr Addr huge_floor(Addr addr) { return Addr{addr.value & ~(kHugeBytes - 1)}; }

/// What one entry of a page table maps.
enum class PageSize : std::uint8_t { base, huge };
constexpr std::uint64_t page_bytes(PageSize size) { return size == PageSize::huge ? kHugeBytes : kPageSize; }

/// Does exactly one process own an anonymous page, so that it may be written in place (PageAnonExclusive, A.7)?
enum class Exclusive : std::uint8_t { no, yes };
/// Does a page wait on a batch to be moved between the kernel's lists?
enum class OnBatch : std::uint8_t { no, yes };
/// Is a page held in memory by mlock, and so on no list of those that may be reclaimed (PageMlocked)?
enum class Mlocked : std::uint8_t { no, yes };

/// One 4 KiB page of physical memory: what struct page is to the kernel. Twelve bytes, since there is one per touched
/// page. The 512 pages of a large folio (a transparent huge page) are frames in a row; the first one, the head, holds
/// the references of all.
class Frame {
 public:
  /// Entries that map the page, PTEs and PMDs. page_mapcount().
  std::uint32_t mappings() const { return mappings_ & kMappingsMask; }
  Exclusive exclusive() const { return (mappings_ & kExclusiveBit) != 0 ? Exclusive::yes : Exclusive::no; }
  void set_exclusive(Exclusive value) {
    mappings_ = value == Exclusive::yes ? mappings_ | kExclusiveBit : mappings_ & ~kExclusiveBit;
  }
  /// Does the page belong to an object's cache? If not, it is anonymous (PageAnon).
  bool cached() const { return (mappings_ & kCachedBit) != 0; }
  void set_cached() { mappings_ |= kCachedBit; }
  /// Has a cached page been written to, as far as the kernel was told: by a write fault, by write(2), or by an entry
  /// that was dirty when it went (PageDirty)?
  bool dirty() const { return (mappings_ & kDirtyBit) != 0; }
  void set_dirty() { mappings_ |= kDirtyBit; }
  /// Has MADV_FREE marked the page (no longer PageSwapBacked)? It stays so until it is reclaimed.
  bool lazily_freed() const { return (mappings_ & kLazyFreeBit) != 0; }
  void set_lazily_freed() {
    mappings_ |= kLazyFreeBit;
    mappings_ &= ~(kReferencedBit | kActiveBit);
  }
  Mlocked mlocked() const { return (mappings_ & kMlockedBit) != 0 ? Mlocked::yes : Mlocked::no; }
  void set_mlocked(Mlocked value) {
    mappings_ = value == Mlocked::yes ? mappings_ | kMlockedBit : mappings_ & ~kMlockedBit;
  }
  /// The kernel touches the page for its user (mark_page_accessed). True where that makes it an active one.
  bool touch();
  /// Do instruction fetches see what the page holds (PG_dcache_clean)? Of a large folio the head says so.
  bool synced() const { return (mappings_ & kSyncedBit) != 0; }
  void set_synced() { mappings_ |= kSyncedBit; }
  OnBatch on_batch() const { return (mappings_ & kOnBatchBit) != 0 ? OnBatch::yes : OnBatch::no; }
  void set_on_batch(OnBatch value) {
    mappings_ = value == OnBatch::yes ? mappings_ | kOnBatchBit : mappings_ & ~kOnBatchBit;
  }

 private:
  friend class FramePool;
  static constexpr std::uint32_t kExclusiveBit = 1U << 31;
  static constexpr std::uint32_t kCachedBit = 1U << 30;
  static constexpr std::uint32_t kDirtyBit = 1U << 29;
  static constexpr std::uint32_t kLazyFreeBit = 1U << 28;
  static constexpr std::uint32_t kOnBatchBit = 1U << 27;
  static constexpr std::uint32_t kMlockedBit = 1U << 26;
  static constexpr std::uint32_t kReferencedBit = 1U << 25;
  static constexpr std::uint32_t kActiveBit = 1U << 24;
  static constexpr std::uint32_t kSyncedBit = 1U << 23;
  static constexpr std::uint32_t kMappingsMask = kSyncedBit - 1;
  static constexpr std::uint32_t kTail = 1U << 31;  // the low bits are the distance to the head
  static constexpr std::uint32_t kHead = 1U << 30;  // of a large folio
  static constexpr std::uint32_t kReferencesMask = kHead - 1;

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

  /// The head of a zero-filled large folio with one reference and no mapping.
  FrameId allocate_huge();
  /// Gives a frame the contents of another.
  void copy_content(FrameId target, FrameId source);

  /// An entry begins to map the frame, or all of a large folio: takes one reference too. Nothing is counted on the zero
  /// page.
  void map(FrameId id, PageSize size = PageSize::base);
  /// The first entry maps what was just allocated, and takes over the allocation's reference.
  void map_new(FrameId id, PageSize size = PageSize::base) { count_mapping(id, size); }
  /// An entry ceases to map it; the folio is freed with its last reference.
  void unmap(FrameId id, PageSize size = PageSize::base);
  /// A further reference that is not a mapping (a pin, a cache), and its end.
  void get(FrameId id) { ++at(head(id)).references_; }
  void put(FrameId id);
  /// A reference of somebody who writes or reads the page by its address for long (pin_user_pages), and its end.
  void pin(FrameId id);
  void unpin(FrameId id);
  /// folio_maybe_dma_pinned().
  bool pinned(FrameId id) const { return !pins_.empty() && pins_.contains(head(id).index); }
  /// References to the frame, or to the large folio that it is part of: entries, and whatever else holds it for long
  /// (pins, caches).
  std::uint32_t references(FrameId id) const { return at(head(id)).references_ & Frame::kReferencesMask; }
  /// The same and the batch that it may wait on: page_count().
  std::uint32_t page_count(FrameId id) const {
    return references(id) + (at(head(id)).on_batch() == OnBatch::yes ? 1 : 0);
  }

  /// Was there ever a large folio?
  bool had_large() const { return had_large_; }
  bool is_large(FrameId id) const { return (at(id).references_ & (Frame::kTail | Frame::kHead)) != 0; }
  /// The first frame of the folio: of a frame of its own, itself.
  FrameId head(FrameId id) const {
    const std::uint32_t references = at(id).references_;
    return (references & Frame::kTail) == 0 ? id : FrameId{id.index - (references & Frame::kReferencesMask)};
  }
  /// One PMD that mapped the folio becomes 512 PTEs: as many references, and the head's exclusive mark on every page.
  void remap_as_base(FrameId head);
  /// The large folio becomes 512 frames of their own (split_folio). Nothing but entries may hold it; pages that none
  /// maps are freed.
  void split_folio(FrameId head);

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
  /// Does the frame hold nothing but zeroes?
  bool is_zero(FrameId id) const;
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

  std::uint32_t take_new(std::uint32_t count);
  void count_mapping(FrameId id, PageSize size);
  void put_large(FrameId id);
  void release(FrameId id);
  Buffer& buffer_of(Frame& frame);
  void release_content(Frame& frame);

  std::vector<Chunk> chunks_;
  std::uint32_t next_ = 0;
  std::vector<std::uint32_t> free_;
  std::vector<std::uint32_t> free_huge_;  // heads of freed large folios
  std::uint64_t live_ = 0;
  bool had_large_ = false;
  std::vector<std::unique_ptr<Buffer>> buffers_;
  std::vector<std::uint32_t> free_buffers_;
  absl::flat_hash_map<std::uint32_t, std::uint32_t> pins_;  // by the folio's first frame: how many
};

inline bool Frame::touch() {
  if ((mappings_ & kReferencedBit) == 0) {
    mappings_ |= kReferencedBit;
    return false;
  }
  if ((mappings_ & (kMlockedBit | kActiveBit)) != 0) return false;
  mappings_ = (mappings_ | kActiveBit) & ~kReferencedBit;
  return true;
}

inline void FramePool::count_mapping(FrameId id, PageSize size) {
  ++at(id).mappings_;
  if (size == PageSize::base) return;
  for (std::uint32_t i = 1; i < kHugePages; ++i) ++at({id.index + i}).mappings_;
}

inline void FramePool::put(FrameId id) {
  if (is_large(id)) return put_large(id);
  if (--at(id).references_ == 0) release(id);
}

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
