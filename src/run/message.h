#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "program/program.h"
#include "run/row.h"

/// What host and agent say to each other: a Request and its Report, or cases and their records. Each travels in a
/// frame.
namespace faultline::run {

/// Raised whenever anything in a message changes; both sides have to agree on it.
inline constexpr std::uint32_t kProtocolVersion = 3;

/// What a request asks for: to run a program, or to play cases (run/case.h). The body begins with it.
enum class MessageKind : std::uint8_t { program, cases };

struct Request {
  program::MachineId machine;
  program::Program program;
  std::vector<std::pair<std::string, std::uint64_t>> params;
  std::uint64_t time_limit_ms = 0;
};

/// The body of a message. Decoding survives any bytes: nothing for those that are not a whole valid message.
std::string encode_request(const program::MachineId& machine, const program::Program& program,
                           const std::vector<std::pair<std::string, std::uint64_t>>& params,
                           std::uint64_t time_limit_ms);
std::string encode(const Report& report);
std::optional<Request> decode_request(std::string_view body);
std::optional<Report> decode_report(std::string_view body);

/// A frame is a header of kFrameHeader bytes, then the body. The header holds a magic number, the protocol's version,
/// the body's length and a checksum of the body.
inline constexpr std::size_t kFrameHeader = 24;
inline constexpr std::uint64_t kLongestBody = std::uint64_t{1} << 30;

std::string frame(std::string_view body);

enum class FrameFault : std::uint8_t { not_a_frame, other_version, too_long };
struct FrameHeader {
  std::uint64_t length = 0;
  std::uint64_t checksum = 0;
};
std::expected<FrameHeader, FrameFault> parse_frame_header(std::string_view header);
/// FNV-1a, 64 bits.
std::uint64_t checksum(std::string_view body);

}  // namespace faultline::run
