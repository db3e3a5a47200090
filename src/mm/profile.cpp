#include "mm/profile.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <vector>

#include "base/page.h"

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
constexpr auto kZeroPage = std::to_array<std::string_view>({"shared", "not-on-reads", "forbidden"});
constexpr auto kRmw = std::to_array<std::string_view>({"read-first", "write-first"});
constexpr auto kThp = std::to_array<std::string_view>({"never", "madvise", "always"});
constexpr auto kHugeZero = std::to_array<std::string_view>({"split", "allocate"});
constexpr auto kExecOnly = std::to_array<std::string_view>({"readable", "epan"});
constexpr auto kIcache = std::to_array<std::string_view>({"coherent", "maintained"});
constexpr auto kPkeyValues = std::to_array<std::string_view>({"absent", "present"});
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
    policy<&Profile::icache>("icache", kIcache),
    policy<&Profile::pkeys>("pkeys", kPkeyValues),
    policy<&Profile::soft_dirty>("soft-dirty", kSoftDirty),
    policy<&Profile::seal>("seal", kSeal),
    policy<&Profile::seal_discard>("seal-discard", kSealDiscard),
    policy<&Profile::guards>("guards", kGuards),
    policy<&Profile::merge>("merge", kMerge),
    policy<&Profile::uncharge>("uncharge", kUncharge),
    policy<&Profile::mremap>("mremap", kMremap),
    policy<&Profile::vma_naming>("vma-naming", kVmaNaming),
    policy<&Profile::overcommit>("overcommit", kOvercommitNames),
});

/// Options whose value is a size.
struct Size {
  std::string_view name;
  std::uint64_t Profile::* pages;
};
constexpr auto kSizes = std::to_array<Size>({{"memory", &Profile::memory}, {"commit-limit", &Profile::commit_limit}});

/// Pages of "4096", "64K", "256M", "1G" or "1T", whose part of a page is dropped.
std::optional<std::uint64_t> pages_of(std::string_view text) {
  constexpr std::string_view kUnits = "KMGT";
  unsigned shift = 0;
  if (const std::size_t unit = text.empty() ? std::string_view::npos : kUnits.find(text.back());
      unit != std::string_view::npos) {
    shift = 10 * (static_cast<unsigned>(unit) + 1);
    text.remove_suffix(1);
  }
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool fits = value <= ~std::uint64_t{0} >> shift;
  if (error != std::errc{} || end != text.data() + text.size() || !fits) return std::nullopt;
  return value << shift >> kPageShift;
}

std::expected<void, std::string> apply(Profile& profile, const Size& size, std::string_view value) {
  const auto pages = pages_of(value);
  if (!pages) {
    return std::unexpected(std::string(size.name) + "=" + std::string(value) + ": expected a size, such as 256M");
  }
  profile.*size.pages = *pages;
  return {};
}

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
  const std::string_view value = equals == std::string_view::npos ? "" : setting.substr(equals + 1);
  const auto size = std::ranges::find(kSizes, policy, &Size::name);
  if (size != kSizes.end()) return apply(profile, *size, value);
  const auto found = std::ranges::find(kSwitches, policy, [](const Switch& s) { return s.choice.policy; });
  if (found == kSwitches.end()) {
    std::vector<std::string_view> names;
    for (const auto& known : kSwitches) names.push_back(known.choice.policy);
    for (const auto& known : kSizes) names.push_back(known.name);
    return std::unexpected("unknown policy '" + std::string(policy) + "': expected one of " + join(names));
  }
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

CommitLimits commit_limits(const Profile& profile) {
  constexpr std::uint64_t kMiB = (std::uint64_t{1} << 20) >> kPageShift;
  const bool limitless = profile.commit_limit == CommitLimits::kUnlimited;
  if (limitless && profile.memory == CommitLimits::kUnlimited) return {};
  // vm.overcommit_ratio is 50. A 32nd of the memory is kept for the administrator and for users, but no more than this
  // (init_admin_reserve, init_user_reserve).
  const std::uint64_t total = limitless ? profile.memory / 2 : profile.commit_limit;
  const std::uint64_t for_administrator = std::min(profile.memory / 32, 8 * kMiB);
  return {.machine = profile.memory,
          .total = total - std::min(total, for_administrator),
          .user_reserve = std::min(profile.memory / 32, 128 * kMiB)};
}

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
