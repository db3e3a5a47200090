#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>

namespace faultline::check {

/// Random numbers that are the same on every machine (splitmix64).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  /// One of 0 … n-1; n is not 0.
  std::uint64_t below(std::uint64_t n) { return next() % n; }
  /// True one time in n.
  bool one_in(std::uint64_t n) { return below(n) == 0; }
  template <class T>
  const T& pick(std::span<const T> values) {
    return values[below(values.size())];
  }

 private:
  std::uint64_t state_;
};

}  // namespace faultline::check
