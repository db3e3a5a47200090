#pragma once

#include <cstdint>
#include <optional>

#include "base/page.h"

namespace faultline::agent {

/// Pages of the range that huge pages of anonymous memory map, by the text of /proc/PID/smaps open at `file`; the huge
/// zero page is not among them. Nothing where an area with huge pages lies only partly in the range, for the text
/// counts by area.
std::optional<std::uint64_t> anon_huge_pages(int file, Range range);

}  // namespace faultline::agent
