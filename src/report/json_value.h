#pragma once

#include <nlohmann/json.hpp>

namespace faultline::report {

/// JSON whose keys stay in the order in which they are written, for a reader's sake.
using Json = nlohmann::ordered_json;

}  // namespace faultline::report
