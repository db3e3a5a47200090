#include "machine/text_argument.h"

#include <cstdint>

namespace faultline::machine {

Result<std::string> text_argument(mm::AddressSpace& space, const run::CallRequest& call, std::size_t index,
                                  std::size_t most) {
  const std::uint64_t argument = call.arguments[index];
  std::string text;
  if (is_string(call, index)) {
    text = reinterpret_cast<const char*>(argument);
  } else {
    for (std::uint8_t byte = 0; text.size() < most; text += static_cast<char>(byte)) {
      if (space.copy_from_user({&byte, 1}, Addr{argument + text.size()}) == 0) return fail(EFAULT);
      if (byte == 0) break;
    }
  }
  if (text.size() >= most) return fail(EINVAL);
  return text;
}

}  // namespace faultline::machine
