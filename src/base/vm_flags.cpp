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
  const auto add = [&](std::string_view letters) {
    if ((flags & vm_flag_bit(letters)) == 0) return;
    if (!text.empty()) text += ' ';
    text += letters;
  };
  for (const std::string_view letters : kVmFlagLetters) add(letters);
  add("??");
  return text;
}

}  // namespace faultline
