#pragma once

#include <chrono>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

/// Frames over a pair of file descriptors.
namespace faultline::run {

enum class ReadFault : std::uint8_t {
  closed,         // the other side is gone
  timeout,        // nothing came in time
  damaged,        // not a frame, too long, or its checksum is wrong
  other_version,  // a frame of another version of the protocol
};

using Deadline = std::optional<std::chrono::steady_clock::time_point>;

/// The body of the next frame. Without a deadline it waits for ever.
std::expected<std::string, ReadFault> read_frame(int file, Deadline deadline);

/// Writes `body` as a frame; false when the other side does not take it.
bool write_frame(int file, std::string_view body);

}  // namespace faultline::run
