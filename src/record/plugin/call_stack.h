#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

namespace faultline::record {

/// Places in the program with the calls that led there, numbered from 1; 0 is nowhere. At most kMost of them: beyond
/// that, new places are those of their callers.
class Sites {
 public:
  static constexpr std::size_t kMost = std::size_t{1} << 17U;
  /// Called with the number, the caller's number and the address of each new site.
  using Made = std::function<void(std::uint32_t, std::uint32_t, std::uint64_t)>;

  void on_made(Made made) { made_ = std::move(made); }
  std::uint32_t find(std::uint32_t caller, std::uint64_t address);

 private:
  struct Key {
    std::uint32_t caller;
    std::uint64_t address;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const {
      constexpr std::uint64_t kSpread = 0x9e3779b97f4a7c15;
      return static_cast<std::size_t>((key.address ^ std::uint64_t{key.caller} << 40U) * kSpread >> 13U);
    }
  };
  Made made_;
  std::unordered_map<Key, std::uint32_t, Hash> numbers_;
};

/// The calls that one thread is in, from its call instructions and from where execution goes on behind them. QEMU's
/// plugins see no registers: a frame that was left in another way (longjmp) goes when a call below it returns.
class CallStack {
 public:
  static constexpr std::size_t kDeepest = 1024;

  void call(std::uint64_t return_address) {
    if (frames_.size() == kDeepest) frames_.erase(frames_.begin(), frames_.begin() + kDeepest / 2);
    frames_.push_back(return_address);
  }
  void returned(std::uint64_t address) {
    for (std::size_t i = frames_.size(); i-- > 0;) {
      if (frames_[i] != address) continue;
      frames_.resize(i);
      return;
    }
  }
  /// The site of the instruction at `address`, called as it is now; the innermost kNamed calls of it.
  std::uint32_t site(Sites& sites, std::uint64_t address);

 private:
  static constexpr std::size_t kNamed = 16;
  std::vector<std::uint64_t> frames_;  // return addresses, outermost first
};

}  // namespace faultline::record
