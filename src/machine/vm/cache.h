#pragma once

#include <expected>
#include <filesystem>
#include <string>
#include <string_view>

/// What is kept between runs: kernels, snapshots, and apt's lists.
namespace faultline::machine::vm {

/// $XDG_CACHE_HOME/faultline, else ~/.cache/faultline. The error says that neither is named by the environment.
std::expected<std::filesystem::path, std::string> cache_folder();

/// The whole file; the error names it.
std::expected<std::string, std::string> read_whole(const std::filesystem::path& file);

/// Writes a file that is either complete under its name or not there: to a temporary name, then renamed.
std::expected<void, std::string> write_whole(const std::filesystem::path& file, std::string_view content);

/// Writes a copy of an open file in which pages of zeros take no room.
std::expected<void, std::string> copy_sparse(int from, const std::filesystem::path& path);

/// Makes the folder and those above it.
std::expected<void, std::string> make_folder(const std::filesystem::path& folder);

/// FNV-1a over 8-byte words, 64 bits, as 16 hexadecimal digits: names a content, guards against nothing.
std::string fingerprint(std::string_view content);

}  // namespace faultline::machine::vm
