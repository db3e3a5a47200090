#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace faultline {

/// The flags of a mapping as the line VmFlags of proc_pid_smaps(5) shows them, by two letters each. A set of them is a
/// number: bit i stands for the i-th of this list.
inline constexpr auto kVmFlagLetters =
    std::to_array<std::string_view>({"rd", "wr", "ex", "sh", "mr", "mw", "me", "ms", "gd", "gu", "lo", "lf", "sr", "rr",
                                     "dc", "ac", "nr", "wf", "dd", "sd", "hg", "nh", "mg", "um", "uw", "dp", "sl"});
/// Stands for every flag that the list does not have: a kernel shows "??" for what it has no letters for.
inline constexpr std::uint64_t kOtherVmFlag = std::uint64_t{1} << 63;

/// The bit of two letters; kOtherVmFlag where they are not in the list.
constexpr std::uint64_t vm_flag_bit(std::string_view letters) {
  for (std::size_t i = 0; i < kVmFlagLetters.size(); ++i) {
    if (kVmFlagLetters[i] == letters) return std::uint64_t{1} << i;
  }
  return kOtherVmFlag;
}

/// The set that a text such as "rd wr mr mw me" names, words in any order.
std::uint64_t vm_flags_in(std::string_view text);
/// The text of a set, in the kernel's order but for "??", which comes last.
std::string vm_flags_text(std::uint64_t flags);

}  // namespace faultline
