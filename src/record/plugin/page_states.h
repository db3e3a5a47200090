#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "record/format.h"

namespace faultline::record {

/// How each page has been touched since the last event that concerned it: a byte per page, in leaves of 2 MiB of
/// address space that are made at the first touch and kept. For many threads at once.
class PageStates {
 public:
  static constexpr unsigned kLeafShift = 21;
  static constexpr std::size_t kPagesPerLeaf = 512;
  using Leaf = std::array<std::atomic<std::uint8_t>, kPagesPerLeaf>;

  static constexpr std::uint8_t bit(Touch touch) {
    // The kernel's stores make a page present and writable as the program's do.
    return static_cast<std::uint8_t>(1U << static_cast<unsigned>(touch == Touch::kernel_store ? Touch::store : touch));
  }

  static constexpr std::size_t page_in_leaf(std::uint64_t vaddr) { return vaddr >> 12U & (kPagesPerLeaf - 1); }

  /// One thread's way to the leaves that it used last.
  class Cache {
   public:
    /// The state of the page of `vaddr`.
    std::atomic<std::uint8_t>& at(PageStates& states, std::uint64_t vaddr) {
      const std::uint64_t region = vaddr >> kLeafShift;
      Way& way = ways_[region % kWays];
      if (way.region != region) way = {region, &states.leaf(region)};
      return (*way.leaf)[page_in_leaf(vaddr)];
    }
    /// Does the state hold that bit, as far as is known without a look elsewhere?
    bool known_to_hold(std::uint64_t vaddr, std::uint8_t bit) const {
      const Way& way = ways_[(vaddr >> kLeafShift) % kWays];
      return way.region == vaddr >> kLeafShift &&
             ((*way.leaf)[page_in_leaf(vaddr)].load(std::memory_order_relaxed) & bit) != 0;
    }

   private:
    static constexpr std::size_t kWays = 256;
    struct Way {
      std::uint64_t region = ~std::uint64_t{0};
      Leaf* leaf = nullptr;
    };
    std::array<Way, kWays> ways_{};
  };

  /// The state of the page of `vaddr`, which stays where it is.
  std::atomic<std::uint8_t>& at(std::uint64_t vaddr) { return leaf(vaddr >> kLeafShift)[page_in_leaf(vaddr)]; }

  /// An event concerned these bytes: what comes next to their pages is a first touch again.
  void forget(std::uint64_t start, std::uint64_t bytes);
  void forget_all();

  /// Around fork, so that the child finds nothing half changed.
  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }

 private:
  Leaf& leaf(std::uint64_t region);

  std::mutex mutex_;
  std::unordered_map<std::uint64_t, std::unique_ptr<Leaf>> leaves_;
};

}  // namespace faultline::record
