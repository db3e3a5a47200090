#include "mm/profile.h"

#include <algorithm>
#include <array>
#include <vector>

namespace faultline::mm {
namespace {

using arch::Arch;

/// A policy that a name may switch: its values, in the order of its enum, and where it lives.
struct Switch {
  PolicyChoice choice;
  void (*set)(Profile&, std::size_t value);
};

template <auto Member>
std::size_t member(const Profile& profile) {
  return static_cast<std::size_t>(profile.*Member);
}
template <auto Member>
void set_member(Profile& profile, std::size_t value) {
  using Enum = std::remove_reference_t<decltype(profile.*Member)>;
  profile.*Member = static_cast<Enum>(value);
}

template <auto Member>
constexpr Switch policy(std::string_view name, std::span<const std::string_view> values) {
  return {{name, values, member<Member>}, set_member<Member>};
}

constexpr auto kUpgrade =
    std::to_array<std::string_view>({"shared-dirty", "page-count", "exclusive-dirty", "exclusive"});
constexpr auto kWpReuse = std::to_array<std::string_view>({"page-count", "exclusive"});
constexpr auto kZeroPage = std::to_array<std::string_view>({"shared", "forbidden"});
constexpr auto kRmw = std::to_array<std::string_view>({"read-first", "write-first"});
constexpr auto kThp = std::to_array<std::string_view>({"never", "madvise", "always"});
constexpr auto kHugeZero = std::to_array<std::string_view>({"split", "allocate"});
constexpr auto kExecOnly = std::to_array<std::string_view>({"readable", "epan"});
constexpr auto kPkeys = std::to_array<std::string_view>({"absent", "present"});
constexpr auto kSoftDirty = std::to_array<std::string_view>({"absent", "present"});
constexpr auto kSeal = std::to_array<std::string_view>({"absent", "upfront", "in-loop"});
constexpr auto kSealDiscard = std::to_array<std::string_view>({"v10-mask", "no-file", "anonymous"});
constexpr auto kGuards = std::to_array<std::string_view>({"absent", "present"});
constexpr auto kMerge = std::to_array<std::string_view>({"faulted-neighbour", "either-faulted"});
constexpr auto kUncharge = std::to_array<std::string_view>({"never", "unfaulted"});

constexpr auto kVmaNaming = std::to_array<std::string_view>({"absent", "private", "anonymous"});
constexpr auto kMremap = std::to_array<std::string_view>({"late-lookup", "lookup-first", "parameters-first"});

constexpr auto kSwitches = std::to_array<Switch>({
    policy<&Profile::upgrade>("upgrade", kUpgrade),
    policy<&Profile::wp_reuse>("wp-reuse", kWpReuse),
    policy<&Profile::zero_page>("zero-page", kZeroPage),
    policy<&Profile::thp>("thp", kThp),
    policy<&Profile::huge_zero>("huge-zero", kHugeZero),
    policy<&Profile::rmw>("rmw", kRmw),
    policy<&Profile::exec_only>("exec-only", kExecOnly),
    policy<&Profile::pkeys>("pkeys", kPkeys),
    policy<&Profile::soft_dirty>("soft-dirty", kSoftDirty),
    policy<&Profile::seal>("seal", kSeal),
    policy<&Profile::seal_discard>("seal-discard", kSealDiscard),
    policy<&Profile::guards>("guards", kGuards),
    policy<&Profile::merge>("merge", kMerge),
    policy<&Profile::uncharge>("uncharge", kUncharge),
    policy<&Profile::mremap>("mremap", kMremap),
    policy<&Profile::vma_naming>("vma-naming", kVmaNaming),
});

std::string join(std::span<const std::string_view> words) {
  std::string text;
  for (const std::string_view word : words) {
    if (!text.empty()) text += ", ";
    text += word;
  }
  return text;
}

std::expected<void, std::string> apply(Profile& profile, std::string_view setting) {
  const std::size_t equals = setting.find('=');
  const std::string_view policy = setting.substr(0, equals);
  const auto found = std::ranges::find(kSwitches, policy, [](const Switch& s) { return s.choice.policy; });
  if (found == kSwitches.end()) {
    std::vector<std::string_view> names;
    for (const auto& known : kSwitches) names.push_back(known.choice.policy);
    return std::unexpected("unknown policy '" + std::string(policy) + "': expected one of " + join(names));
  }
  const std::string_view value = equals == std::string_view::npos ? "" : setting.substr(equals + 1);
  const auto& values = found->choice.values;
  const auto index = std::ranges::find(values, value);
  if (index == values.end()) {
    return std::unexpected("policy " + std::string(policy) + " has no value '" + std::string(value) +
                           "': expected one of " + join(values));
  }
  found->set(profile, static_cast<std::size_t>(index - values.begin()));
  return {};
}

/// Combinations that no processor offers.
std::expected<void, std::string> consistent(const Profile& profile) {
  if (profile.exec_only == ExecOnly::epan && profile.arch != Arch::arm64) {
    return std::unexpected("exec-only=epan is a feature of arm64: expected an arm64/ profile");
  }
  if (profile.pkeys == Pkeys::present && profile.arch != Arch::x86_64) {
    return std::unexpected("pkeys=present is modelled for x86-64 only: expected an x86-64 profile");
  }
  if (profile.soft_dirty == SoftDirty::present && profile.arch != Arch::x86_64) {
    return std::unexpected("soft-dirty=present is a feature of x86-64: expected an x86-64 profile");
  }
  return {};
}

}  // namespace

std::expected<Profile, std::string> parse_profile(std::string_view name) {
  std::string_view base = name.substr(0, name.find('+'));
  std::string_view settings = name.substr(base.size());
  if (base.starts_with("x86-64/")) base.remove_prefix(std::string_view("x86-64/").size());
  const auto all = presets();
  const auto found = std::ranges::find(all, base, &Profile::name);
  if (found == all.end()) {
    std::vector<std::string_view> names;
    for (const auto& known : all) names.push_back(known.name);
    return std::unexpected("unknown profile '" + std::string(base) + "': expected one of " + join(names));
  }
  Profile profile = *found;
  while (!settings.empty()) {
    settings.remove_prefix(1);
    const std::string_view setting = settings.substr(0, settings.find('+'));
    if (auto applied = apply(profile, setting); !applied) return std::unexpected(applied.error());
    (profile.name += '+') += setting;
    settings.remove_prefix(setting.size());
  }
  if (auto fine = consistent(profile); !fine) return std::unexpected(fine.error());
  return profile;
}

std::span<const PolicyChoice> policy_choices() {
  static const std::vector<PolicyChoice> all = [] {
    std::vector<PolicyChoice> list;
    for (const auto& known : kSwitches) list.push_back(known.choice);
    return list;
  }();
  return all;
}

}  // namespace faultline::mm
