#pragma once

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace faultline::fuzz {

/// Ends the fuzzer with a finding where a promise of the code under test is broken.
inline void holds(bool promise, std::string_view what, std::string_view detail = {}) {
  if (promise) return;
  std::fprintf(stderr, "broken promise: %.*s\n%.*s\n", static_cast<int>(what.size()), what.data(),
               static_cast<int>(detail.size()), detail.data());
  std::abort();
}

}  // namespace faultline::fuzz
