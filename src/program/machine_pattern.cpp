#include "program/machine_pattern.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <limits>
#include <vector>

#include "program/character.h"

namespace faultline::program {
namespace {

constexpr std::array<std::string_view, 3> kKinds = {"model", "live", "vm"};
constexpr std::array<std::string_view, 2> kArches = {"x86-64", "arm64"};
constexpr std::string_view kDefaultArch = "x86-64";

bool is_policy_char(char c) { return (c >= 'a' && c <= 'z') || is_digit(c) || c == '-'; }

/// "never", "read-first"; "256M".
bool is_policy_value(std::string_view value) {
  const bool is_size = is_digit(value.front()) && std::string_view("KMGT").contains(value.back());
  if (is_size) value.remove_suffix(1);
  return std::ranges::all_of(value, is_policy_char);
}

/// The numbers of "6.18.44-rc1": {6, 18, 44}. Stops at the first character that continues no number.
std::vector<std::uint64_t> components(std::string_view version) {
  std::vector<std::uint64_t> numbers;
  while (!version.empty() && is_digit(version.front())) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(version.data(), version.data() + version.size(), value);
    if (error != std::errc{}) value = std::numeric_limits<std::uint64_t>::max();
    numbers.push_back(value);
    version.remove_prefix(static_cast<std::size_t>(end - version.data()));
    if (version.empty() || version.front() != '.') break;
    version.remove_prefix(1);
  }
  return numbers;
}

bool is_version(std::string_view text) {
  bool after_digit = false;
  for (const char c : text) {
    if (c == '.' ? !after_digit : !is_digit(c)) return false;
    after_digit = c != '.';
  }
  return after_digit;
}

/// "6.12.117" is "6.12" as far as that goes.
bool begins_with_version(std::string_view version, std::string_view beginning) {
  const auto have = components(version);
  const auto want = components(beginning);
  return have.size() >= want.size() && std::equal(want.begin(), want.end(), have.begin());
}

/// "+b=1+a=2" as {"a=2", "b=1"}: policies name the same machine in any order.
std::vector<std::string_view> policy_list(std::string_view policies) {
  std::vector<std::string_view> list;
  while (!policies.empty()) {
    policies.remove_prefix(1);
    const std::size_t end = std::min(policies.find('+'), policies.size());
    list.push_back(policies.substr(0, end));
    policies.remove_prefix(end);
  }
  std::ranges::sort(list);
  return list;
}

bool is_policy_list(std::string_view policies) {
  if (policies.empty()) return true;
  if (policies.front() != '+' || policies.back() == '+') return false;
  return std::ranges::all_of(policy_list(policies), [](std::string_view policy) {
    const std::size_t equals = policy.find('=');
    if (equals == std::string_view::npos || equals == 0 || equals + 1 == policy.size()) return false;
    return std::ranges::all_of(policy.substr(0, equals), is_policy_char) && is_policy_value(policy.substr(equals + 1));
  });
}

}  // namespace

bool version_at_least(std::string_view version, std::string_view least) {
  auto have = components(version);
  if (have.empty()) return false;
  auto want = components(least);
  const std::size_t length = std::max(have.size(), want.size());
  have.resize(length);
  want.resize(length);
  return have >= want;
}

bool MachinePattern::matches(const MachineId& machine) const {
  if (kind != machine.kind) return false;
  if (relation == Relation::any) return !arch || *arch == machine.arch;
  if (policy_list(policies) != policy_list(machine.policies)) return false;
  if (components(machine.version).empty()) return false;
  switch (relation) {
    case Relation::exactly:
      return machine.arch == arch.value_or(std::string(kDefaultArch)) && begins_with_version(machine.version, version);
    case Relation::at_least:
      return (!arch || *arch == machine.arch) && version_at_least(machine.version, version);
    case Relation::below:
      return (!arch || *arch == machine.arch) && !version_at_least(machine.version, version);
    case Relation::any:
      break;
  }
  return false;
}

std::string MachinePattern::text() const {
  std::string text = kind;
  if (relation == Relation::any) return arch ? text + ":" + *arch : text;
  text += ':';
  if (arch) text += *arch + "/";
  if (relation == Relation::at_least) text += ">=";
  if (relation == Relation::below) text += '<';
  return text + version + policies;
}

std::optional<MachinePattern> parse_machine_pattern(std::string_view text, std::string& expected) {
  MachinePattern pattern;
  const std::size_t colon = text.find(':');
  pattern.kind = text.substr(0, colon);
  if (std::ranges::find(kKinds, pattern.kind) == kKinds.end()) {
    expected = "a machine: model, live or vm, each with an optional version such as model:6.12 or live:>=6.2";
    return std::nullopt;
  }
  if (colon == std::string_view::npos) return pattern;
  std::string_view rest = text.substr(colon + 1);
  for (const std::string_view arch : kArches) {
    if (!rest.starts_with(arch)) continue;
    const std::string_view after = rest.substr(arch.size());
    if (!after.empty() && after.front() != '/') continue;
    pattern.arch = arch;
    if (after.empty()) return pattern;
    rest = after.substr(1);
  }
  pattern.relation = MachinePattern::Relation::exactly;
  if (rest.starts_with(">=")) {
    pattern.relation = MachinePattern::Relation::at_least;
    rest.remove_prefix(2);
  } else if (rest.starts_with("<")) {
    pattern.relation = MachinePattern::Relation::below;
    rest.remove_prefix(1);
  }
  const std::size_t plus = std::min(rest.find('+'), rest.size());
  pattern.version = rest.substr(0, plus);
  pattern.policies = rest.substr(plus);
  if (!is_version(pattern.version)) {
    expected = "a kernel version such as 6.12, >=6.2, <6.10 or arm64/6.12 after '" + pattern.kind + ":'";
    return std::nullopt;
  }
  if (!is_policy_list(pattern.policies)) {
    expected = "policies such as +upgrade=page-count after the version";
    return std::nullopt;
  }
  if (!pattern.policies.empty() && pattern.kind != "model") {
    expected = "no policies: only a model has them";
    return std::nullopt;
  }
  return pattern;
}

}  // namespace faultline::program
