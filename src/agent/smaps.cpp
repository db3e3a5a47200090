#include "agent/smaps.h"

#include <unistd.h>

#include <array>
#include <charconv>
#include <string_view>

#include "base/vm_flags.h"

namespace faultline::agent {
namespace {

/// "START-END …", or nothing for a line of another kind.
std::optional<Range> area_of(std::string_view line) {
  Range area;
  const char* const end = line.end();
  const auto start = std::from_chars(line.begin(), end, area.start.value, 16);
  if (start.ec != std::errc{} || start.ptr == end || *start.ptr != '-') return std::nullopt;
  const auto stop = std::from_chars(start.ptr + 1, end, area.end.value, 16);
  if (stop.ec != std::errc{} || stop.ptr == end || *stop.ptr != ' ') return std::nullopt;
  return area;
}

std::optional<std::uint64_t> number_in(std::string_view line, std::string_view name) {
  if (!line.starts_with(name)) return std::nullopt;
  const std::size_t digits = line.find_first_of("0123456789");
  std::uint64_t value = 0;
  if (digits == std::string_view::npos) return std::nullopt;
  std::from_chars(line.begin() + digits, line.end(), value);
  return value;
}

enum class Reading : bool { ends, goes_on };

/// Calls `visit(line)` for each line until it says that reading ends; a line longer than the buffer is cut.
template <class Visit>
void each_line(int file, Visit visit) {
  std::array<char, 8192> buffer;
  std::size_t held = 0;
  // An offset of our own: threads share the descriptor.
  off_t offset = 0;
  for (ssize_t got = 0; (got = pread(file, buffer.data() + held, buffer.size() - held, offset)) > 0; offset += got) {
    held += static_cast<std::size_t>(got);
    std::string_view rest(buffer.data(), held);
    for (std::size_t end = 0; (end = rest.find('\n')) != std::string_view::npos; rest.remove_prefix(end + 1)) {
      if (visit(rest.substr(0, end)) == Reading::ends) return;
    }
    if (rest.size() == buffer.size()) rest = {};
    std::copy(rest.begin(), rest.end(), buffer.begin());
    held = rest.size();
  }
}

}  // namespace

std::optional<std::uint64_t> anon_huge_pages(int file, Range range) {
  std::optional<std::uint64_t> pages = 0;
  Range area;
  each_line(file, [&](std::string_view line) {
    if (const auto found = area_of(line)) area = *found;
    const auto huge = number_in(line, "AnonHugePages:");
    if (!huge || *huge == 0 || !area.overlaps(range) || !pages) return Reading::goes_on;
    pages = range.contains(area) ? std::optional(*pages + *huge * 1024 / kPageSize) : std::nullopt;
    return Reading::goes_on;
  });
  return pages;
}

void visit_vm_flags(int file, Range range, FlagsVisit visit, void* context) {
  constexpr std::string_view kFlags = "VmFlags:";
  Range area;
  each_line(file, [&](std::string_view line) {
    if (line.starts_with(kFlags)) {
      if (area.overlaps(range)) visit(context, area, vm_flags_in(line.substr(kFlags.size())));
    } else if (const auto found = area_of(line)) {
      area = *found;
    }
    return area.start >= range.end ? Reading::ends : Reading::goes_on;
  });
}

std::uint64_t protection_key(int file, Addr addr) {
  std::uint64_t key = 0;
  Range area;
  each_line(file, [&](std::string_view line) {
    if (const auto found = area_of(line)) area = *found;
    if (!area.contains(addr)) return area.start > addr ? Reading::ends : Reading::goes_on;
    if (const auto number = number_in(line, "ProtectionKey:")) key = *number;
    return Reading::goes_on;
  });
  return key;
}

}  // namespace faultline::agent
