#pragma once

#include <span>

#include "cost/table.h"

namespace faultline::cost {

/// The tables of src/cost/tables, as `faultline calibrate` wrote them.
std::span<const CostTable> built_in_tables();

}  // namespace faultline::cost
