#pragma once

#include <rapidcheck.h>

#include <optional>
#include <ostream>
#include <string>

#include "base/flags.h"

// RapidCheck prints a counterexample's assertion by its operands.
namespace rc::detail {
template <>
struct ShowDefault<std::optional<faultline::Prot>, false> {
  static void show(const std::optional<faultline::Prot>& prot, std::ostream& os) {
    os << (prot ? std::to_string(static_cast<unsigned>(*prot)) : "unmapped");
  }
};
}  // namespace rc::detail
