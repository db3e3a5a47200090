#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/page.h"

namespace faultline {

/// The signal that an access ended in (sigaction(2)): number, si_code, si_addr and, where a protection key forbade it,
/// si_pkey.
struct Signal {
  int number = 0;
  int code = 0;
  Addr addr;
  std::uint32_t pkey = 0;
  bool operator==(const Signal&) const = default;
};

// Values of the Linux ABI, spelled here because <csignal> declares the codes as macros.
inline constexpr int kSigBus = 7;
inline constexpr int kSigSegv = 11;
inline constexpr int kSegvMapErr = 1;  // SEGV_MAPERR: no mapping at the address
inline constexpr int kSegvAccErr = 2;  // SEGV_ACCERR: the mapping forbids the access
inline constexpr int kSegvPkuErr = 4;  // SEGV_PKUERR: a protection key forbids it
inline constexpr int kBusAdrErr = 2;   // BUS_ADRERR: beyond the end of the object

/// "SIGSEGV" for 11, and so on; "SIG?" for an unknown number.
std::string_view signal_name(int number);
/// The number of "SIGSEGV" and so on, or nothing.
std::optional<int> signal_named(std::string_view name);

/// "SEGV_ACCERR" for (SIGSEGV, 2), and so on; "code?" for an unknown pair.
std::string_view signal_code_name(int number, int code);
/// The si_code of "SEGV_ACCERR" and so on, or nothing.
std::optional<int> signal_code_named(std::string_view name);

/// "SIGSEGV SEGV_ACCERR at 0x7000", "SIGSEGV SEGV_PKUERR at 0x7000, key 1", as messages show it.
std::string to_string(const Signal& signal);

}  // namespace faultline
