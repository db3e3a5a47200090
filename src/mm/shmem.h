#pragma once

#include <absl/container/btree_map.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "base/flags.h"
#include "mm/frame.h"

namespace faultline::mm {

/// What fcntl(2)'s F_ADD_SEALS takes from an object for good.
enum class FileSeals : std::uint32_t {
  none = 0,
  seal = 0x1,           // adding further seals
  shrink = 0x2,         // becoming smaller
  grow = 0x4,           // becoming larger
  write = 0x8,          // any change of its contents
  future_write = 0x10,  // changes other than through mappings that exist already
  exec = 0x20,          // changing the permission to execute it
};
}  // namespace faultline::mm

template <>
inline constexpr bool faultline::kIsFlagSet<faultline::mm::FileSeals> = true;

namespace faultline::mm {

/// The largest size of an object, in bytes (MAX_LFS_FILESIZE).
inline constexpr std::uint64_t kLargestFile = (std::uint64_t{1} << 63) - 1;

/// The object behind a memfd, or behind one shared anonymous mapping (a shmem inode): its size, its page cache and its
/// seals. Mappings and open files share it; its pages go with the last of them.
class Shmem {
 public:
  /// `size` in bytes, as ftruncate(2) would set it. `frames` outlives the object.
  Shmem(FramePool& frames, std::uint64_t size) : frames_(frames), size_(size) {}
  ~Shmem() { drop(0, ~std::uint64_t{0}); }
  Shmem(const Shmem&) = delete;
  Shmem& operator=(const Shmem&) = delete;

  /// In bytes, up to kLargestFile. Setting it moves no page: see resize_object() in object.h.
  std::uint64_t size() const { return size_; }
  void set_size(std::uint64_t size) { size_ = size; }
  /// Whole and begun pages below the end: an access to a later one is a SIGBUS.
  std::uint64_t pages() const { return page_ceil(size_) >> kPageShift; }
  FileSeals seals() const { return seals_; }
  void add_seals(FileSeals seals) { seals_ |= seals; }

  /// The cached page of that number.
  std::optional<FrameId> find(std::uint64_t page) const {
    const auto at = cache_.find(page);
    return at == cache_.end() ? std::nullopt : std::optional(at->second);
  }
  /// Puts a new page, zero-filled, into the cache, which has none of that number.
  FrameId add(std::uint64_t page);
  /// The object's bytes from `offset` on; holes read as zero. The end of the object is the caller's to look at.
  void read(std::uint64_t offset, std::span<std::uint8_t> bytes) const;
  /// Writes them, with new pages where there is a hole. The size stays.
  void write(std::uint64_t offset, std::span<const std::uint8_t> bytes);
  /// Drops the cached pages [first, last). Nothing maps them any longer, or only private copies' owners do not care.
  void drop(std::uint64_t first, std::uint64_t last);
  /// Cached pages.
  std::uint64_t cached() const { return cache_.size(); }

  /// Calls `visit(page, frame)` for each cached page of [first, last), in order.
  template <class Visit>
  void each(std::uint64_t first, std::uint64_t last, Visit&& visit) const {
    for (auto at = cache_.lower_bound(first); at != cache_.end() && at->first < last; ++at)
      visit(at->first, at->second);
  }

 private:
  FramePool& frames_;
  std::uint64_t size_;
  FileSeals seals_ = FileSeals::none;
  absl::btree_map<std::uint64_t, FrameId> cache_;  // each holds a reference of its own
};

using ShmemRef = std::shared_ptr<Shmem>;

}  // namespace faultline::mm
