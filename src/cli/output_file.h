#pragma once

#include <expected>
#include <string>
#include <string_view>

namespace faultline::cli {

/// Writes a file as a whole: beside its place first, then renamed, so that a reader never sees half of it and an old
/// file survives a full disk. "-" is standard output. The error says why.
std::expected<void, std::string> write_file(const std::string& path, std::string_view text);

}  // namespace faultline::cli
