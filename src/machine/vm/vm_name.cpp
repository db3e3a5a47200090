#include "machine/vm/vm_name.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace faultline::machine::vm {
namespace {

struct Bounds {
  std::uint32_t least;
  std::uint32_t most;
};

std::expected<std::uint32_t, std::string> number(std::string_view option, std::string_view text, Bounds bounds) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc{} && end == text.data() + text.size() && value >= bounds.least && value <= bounds.most) {
    return value;
  }
  return std::unexpected(
      fmt::format("{}={}: expected a number from {} to {}", option, text, bounds.least, bounds.most));
}

}  // namespace

std::expected<VmName, std::string> VmName::parse(std::string_view text) {
  VmName name;
  const std::size_t comma = std::min(text.find(','), text.size());
  name.kernel = text.substr(0, comma);
  if (name.kernel.empty()) return std::unexpected("expected a kernel after vm:, such as vm:6.12 or vm:path/to/bzImage");
  for (std::string_view rest = text.substr(comma); !rest.empty();) {
    rest.remove_prefix(1);
    const std::size_t end = std::min(rest.find(','), rest.size());
    const std::string_view option = rest.substr(0, end);
    rest.remove_prefix(end);
    const std::size_t equals = std::min(option.find('='), option.size());
    const std::string_view value = option.substr(std::min(equals + 1, option.size()));
    const std::string_view key = option.substr(0, equals);
    if (key == "overcommit") {
      const auto mode = std::ranges::find(mm::kOvercommitNames, value);
      if (mode == mm::kOvercommitNames.end()) {
        return std::unexpected(fmt::format("{}: expected overcommit=heuristic, always or never", option));
      }
      name.overcommit = static_cast<mm::Overcommit>(mode - mm::kOvercommitNames.begin());
      continue;
    }
    if (key != "cpus" && key != "memory") {
      return std::unexpected(fmt::format("\"{}\": expected cpus=N, memory=MIB or overcommit=MODE", option));
    }
    const auto parsed = key == "cpus" ? number(key, value, {1, 8}) : number(key, value, {128, 16384});
    if (!parsed) return std::unexpected(parsed.error());
    (key == "cpus" ? name.cpus : name.memory_mb) = *parsed;
  }
  return name;
}

}  // namespace faultline::machine::vm
