#pragma once

#include <expected>
#include <string>
#include <vector>

#include "export/trace.h"

namespace faultline::cli {

/// `--slice 120-180`, `--slice line=7`, `--slice range=0x7000-0x9000`, `--slice site=TEXT`. The error says what was
/// expected.
std::expected<exports::Choice, std::string> parse_slice(const std::vector<std::string>& texts, std::size_t most);

}  // namespace faultline::cli
