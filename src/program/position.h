#pragma once

#include <cstdint>

namespace faultline::program {

/// A place in a program's text. Lines and columns count from 1; columns count bytes.
struct Position {
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  bool operator==(const Position&) const = default;
};

}  // namespace faultline::program
