#include "run/message.h"

namespace faultline::run {
namespace {

constexpr std::uint32_t kMagic = 0x314c4146;  // "FAL1"

void put(std::string& out, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out.push_back(static_cast<char>(value >> (8 * i)));
}

std::uint64_t take(std::string_view in, std::size_t at, int bytes) {
  std::uint64_t value = 0;
  for (int i = 0; i < bytes; ++i) value |= std::uint64_t{static_cast<unsigned char>(in[at + i])} << (8 * i);
  return value;
}

}  // namespace

std::uint64_t checksum(std::string_view body) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : body) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

std::string frame(std::string_view body) {
  std::string out;
  out.reserve(kFrameHeader + body.size());
  put(out, kMagic, 4);
  put(out, kProtocolVersion, 4);
  put(out, body.size(), 8);
  put(out, checksum(body), 8);
  out += body;
  return out;
}

std::expected<FrameHeader, FrameFault> parse_frame_header(std::string_view header) {
  if (header.size() < kFrameHeader || take(header, 0, 4) != kMagic) return std::unexpected(FrameFault::not_a_frame);
  if (take(header, 4, 4) != kProtocolVersion) return std::unexpected(FrameFault::other_version);
  const FrameHeader parsed{take(header, 8, 8), take(header, 16, 8)};
  if (parsed.length > kLongestBody) return std::unexpected(FrameFault::too_long);
  return parsed;
}

}  // namespace faultline::run
