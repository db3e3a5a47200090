#pragma once

#include <absl/container/btree_map.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "base/errno.h"
#include "base/flags.h"
#include "mm/accounting.h"
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

/// When an object's memory is promised: the whole when it is made, or page by page as it fills.
enum class Promise : std::uint8_t { whole, page_by_page };

/// The object behind a memfd, or behind one shared anonymous mapping (a shmem inode): its size, its page cache and its
/// seals. Mappings and open files share it; its pages go with the last of them.
class Shmem : public std::enable_shared_from_this<Shmem> {
 public:
  /// `size` in bytes, as ftruncate(2) would set it. With Promise::whole the caller has charged the pages of that size,
  /// which the object gives back. `frames` and `commit` outlive it.
  Shmem(FramePool& frames, Commit& commit, std::uint64_t size, Promise promise)
      : frames_(frames), commit_(commit), size_(size), promise_(promise) {}
  ~Shmem();
  Shmem(const Shmem&) = delete;
  Shmem& operator=(const Shmem&) = delete;

  Promise promise() const { return promise_; }
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
  /// Puts a new page, zero-filled, into the cache, which has none of that number. ENOSPC when no more is promised.
  Result<FrameId> add(std::uint64_t page);
  /// The object's bytes from `offset` on; holes read as zero. The end of the object is the caller's to look at.
  void read(std::uint64_t offset, std::span<std::uint8_t> bytes) const;
  /// Writes them, which lie in one page, a new one where there is a hole (ENOSPC). The size stays.
  Result<void> write(std::uint64_t offset, std::span<const std::uint8_t> bytes);
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
  Commit& commit_;
  std::uint64_t size_;
  Promise promise_;
  FileSeals seals_ = FileSeals::none;
  absl::btree_map<std::uint64_t, FrameId> cache_;  // each holds a reference of its own
};

using ShmemRef = std::shared_ptr<Shmem>;

}  // namespace faultline::mm
