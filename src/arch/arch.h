#pragma once

#include <cstdint>
#include <string_view>

#include "base/page.h"

namespace faultline::arch {

enum class Arch : std::uint8_t { x86_64, arm64 };

/// "x86-64", "arm64".
std::string_view arch_name(Arch arch);

/// Page-table geometry and the user address space, for 4 KiB pages and four levels.
struct Geometry {
  Addr task_size;  // first address that is not a user's
  Addr mmap_base;  // mappings are placed downward from here; fixed, so that runs repeat
  Addr brk_base;   // where the heap starts
  /// Above this many pages one range flush becomes a full one: x86-64 tlb_single_page_flush_ceiling, arm64 MAX_DVM_OPS.
  std::uint64_t flush_ceiling_pages;
};
const Geometry& geometry(Arch arch);

}  // namespace faultline::arch
