#include "base/vm_flags.h"

#include <algorithm>

namespace faultline {

std::uint64_t vm_flags_in(std::string_view text) {
  std::uint64_t flags = 0;
  for (std::size_t at = 0; (at = text.find_first_not_of(" \n", at)) != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(" \n", at), text.size());
    flags |= vm_flag_bit(text.substr(at, end - at));
    at = end;
  }
  return flags;
}

std::string vm_flags_text(std::uint64_t flags) {
  std::string text;
  for (const std::string_view letters : kVmFlagLetters) {
    if ((flags & vm_flag_bit(letters)) == 0) continue;
    if (!text.empty()) text += ' ';
    text += letters;
  }
  return text;
}

}  // namespace faultline
