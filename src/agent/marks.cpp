#include "agent/marks.h"

#include "agent/arch.h"

namespace faultline::agent {
namespace {

/// Marks are stores to the first of these pages; the second is for those that lap over its end.
alignas(4096) std::uint8_t mark_pages[8192];

void send_value(std::uint32_t value) { arch::mark(reinterpret_cast<std::uint64_t>(mark_pages) + value); }

}  // namespace

void send(run::Mark mark) { send_value(static_cast<std::uint32_t>(mark)); }

void send(run::Mark mark, std::uint32_t argument) {
  for (int shift = 24; shift >= 0; shift -= 8) {
    send_value(static_cast<std::uint32_t>(run::Mark::digit) + (argument >> shift & 0xff));
  }
  send(mark);
}

void send_message(std::string_view bytes) {
  for (const char byte : bytes) send_value(static_cast<std::uint8_t>(byte));
  send(run::Mark::message_ends);
}

}  // namespace faultline::agent
