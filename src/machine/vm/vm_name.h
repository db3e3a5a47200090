#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

#include "mm/accounting.h"

namespace faultline::machine::vm {

/// "arm64/6.12,cpus=2,memory=512,overcommit=never" taken apart.
struct VmName {
  std::string kernel;
  std::uint32_t cpus = 1;
  std::uint32_t memory_mb = 256;
  mm::Overcommit overcommit = mm::Overcommit::heuristic;

  /// Can it be nothing but a file?
  bool is_path() const { return kernel.starts_with('/') || kernel.starts_with('.'); }

  /// The error says what was expected.
  static std::expected<VmName, std::string> parse(std::string_view text);
};

}  // namespace faultline::machine::vm
