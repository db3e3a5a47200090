#pragma once

#include <expected>
#include <string>
#include <string_view>

#include "cost/table.h"

namespace faultline::cost {

/// The table as JSON, in the format's version 1: a line for each operation. Costs are rounded to a tenth of an
/// instruction, errors to a hundredth of a percent.
std::string table_json(const CostTable& table);

/// Reads what table_json() wrote. The error says where in the document and what was expected there.
std::expected<CostTable, std::string> read_table(std::string_view text);

}  // namespace faultline::cost
