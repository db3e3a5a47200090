#pragma once

#include <gtest/gtest.h>

#include "mm/address_space.h"

namespace faultline::mm {

/// A kernel by name with one process, whose whole state is checked when the test ends.
class World {
 public:
  explicit World(std::string_view profile, Tunables tunables = {})
      : system_(*parse_profile(profile), tunables), space_(system_) {}
  ~World() { check(); }

  AddressSpace* operator->() { return &space_; }
  AddressSpace& operator*() { return space_; }
  System& system() { return system_; }

  /// A private anonymous mapping with unmapped neighbours, so that nothing outside can merge with it.
  Addr alone(std::uint64_t pages, Prot prot = Prot::read | Prot::write, MapFlags extra = MapFlags::none) {
    next_ = next_ + (pages + 2) * kPageSize;
    const auto at = space_.mmap(next_ - pages * kPageSize, pages * kPageSize, prot,
                                MapFlags::private_ | MapFlags::anonymous | MapFlags::fixed | extra);
    EXPECT_TRUE(at);
    next_ = next_ + kPageSize;
    return *at;
  }
  Range range(Addr a, std::uint64_t pages) const { return Range::of(a, pages * kPageSize); }
  std::uint64_t vmas(Addr a, std::uint64_t pages) const { return space_.state(range(a, pages)).vmas; }
  std::uint64_t present(Addr a, std::uint64_t pages) const { return space_.state(range(a, pages)).present; }
  std::uint64_t counted(Counter counter) const { return space_.counters()[counter]; }

  void store_pages(Addr a, std::uint64_t pages, std::uint8_t value = 1) {
    for (std::uint64_t i = 0; i < pages; ++i) EXPECT_TRUE(space_.store(a + i * kPageSize, value));
  }
  void load_pages(Addr a, std::uint64_t pages) {
    for (std::uint64_t i = 0; i < pages; ++i) EXPECT_TRUE(space_.load(a + i * kPageSize));
  }
  /// How much a counter grows while `act` runs.
  template <class Act>
  std::uint64_t during(Counter counter, Act&& act) {
    const std::uint64_t before = counted(counter);
    act();
    check();
    return counted(counter) - before;
  }
  void check() {
    const auto wrong = space_.check();
    EXPECT_FALSE(wrong) << *wrong;
  }

 private:
  System system_;
  AddressSpace space_;
  Addr next_{0x10000000};
};

inline constexpr Prot kNone = Prot::none;
inline constexpr Prot kR = Prot::read;
inline constexpr Prot kRW = Prot::read | Prot::write;
inline constexpr Prot kRWX = Prot::read | Prot::write | Prot::exec;
inline constexpr std::uint64_t P = kPageSize;

/// "ok", or the name of the errno.
template <class T>
std::string outcome(const Result<T>& result) {
  return result ? "ok" : std::string(errno_name(result.error()));
}

}  // namespace faultline::mm
