#include <algorithm>

#include "run/params.h"

namespace faultline::run {

std::optional<std::string> unknown_param(const program::Program& program,
                                         std::span<const std::pair<std::string, std::uint64_t>> params) {
  for (const auto& [name, value] : params) {
    const auto declares = [&](const program::Statement& s) {
      const auto* param = std::get_if<program::Param>(&s.node);
      return param != nullptr && param->name == name;
    };
    if (!std::ranges::any_of(program.body, declares)) return name;
  }
  return std::nullopt;
}

}  // namespace faultline::run
