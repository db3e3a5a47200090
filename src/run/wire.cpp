#include "run/wire.h"

namespace faultline::run {

std::uint64_t Reader::integer() {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 70; shift += 7) {
    if (left_.empty()) break;
    const auto byte = static_cast<unsigned char>(left_.front());
    left_.remove_prefix(1);
    // The tenth byte holds the one bit that is left.
    if (shift == 63 && byte > 1) break;
    value |= std::uint64_t{byte & 0x7fU} << shift;
    if ((byte & 0x80) == 0) return value;
  }
  fail();
  return 0;
}

std::uint64_t Reader::integer_up_to(std::uint64_t most) {
  const std::uint64_t value = integer();
  if (value <= most) return value;
  fail();
  return 0;
}

std::string Reader::text() {
  const std::uint64_t length = integer_up_to(left_.size());
  if (!good_ || length > left_.size()) {
    fail();
    return {};
  }
  std::string value(left_.substr(0, length));
  left_.remove_prefix(length);
  return value;
}

}  // namespace faultline::run
