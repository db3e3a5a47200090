#pragma once

#include <expected>
#include <string>

#include "cost/table.h"

namespace faultline::cli {

/// Reads a table that `faultline calibrate --out` wrote. The error names the file and says what was expected in it.
std::expected<cost::CostTable, std::string> load_costs(const std::string& path);

}  // namespace faultline::cli
