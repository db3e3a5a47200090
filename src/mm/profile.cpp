#include "mm/profile.h"

#include <algorithm>
#include <array>
#include <vector>

namespace faultline::mm {
namespace {

using arch::Arch;

/// What a kernel series does on both architectures. Adding a kernel is adding a row.
struct Series {
  std::string_view version;
  Upgrade upgrade;
  WpReuse wp_reuse;
  Seal seal;
  SealDiscard seal_discard;
  Guards guards;
  Merge merge;
  Uncharge uncharge;
  ProtectFlush flush_x86_64;
  ProtectFlush flush_arm64;
  FaultLock fault_lock;
  Mremap mremap;
  MremapRoom mremap_room;
  AdviceSet advice;
  AdviseFlush advise_flush;
  AdviseLock advise_lock;
};

constexpr AdviceSet kAdvice61 = AdviceSet::populate | AdviceSet::dontneed_locked | AdviceSet::collapse;

// clang-format off
constexpr auto kSeries = std::to_array<Series>({
  {"5.10", Upgrade::shared_dirty, WpReuse::page_count, Seal::absent, SealDiscard::no_file, Guards::absent,
   Merge::faulted_neighbour, Uncharge::never, ProtectFlush::when_changed, ProtectFlush::when_changed,
   FaultLock::mmap, Mremap::late_lookup, MremapRoom::moves, AdviceSet::none, AdviseFlush::per_vma, AdviseLock::mmap},
  {"6.1", Upgrade::exclusive_dirty, WpReuse::exclusive, Seal::absent, SealDiscard::no_file, Guards::absent,
   Merge::faulted_neighbour, Uncharge::never, ProtectFlush::when_needed, ProtectFlush::always,
   FaultLock::mmap, Mremap::lookup_first, MremapRoom::moves, kAdvice61, AdviseFlush::per_vma, AdviseLock::mmap},
  {"6.8", Upgrade::exclusive, WpReuse::exclusive, Seal::absent, SealDiscard::no_file, Guards::absent,
   Merge::faulted_neighbour, Uncharge::unfaulted, ProtectFlush::when_needed, ProtectFlush::always,
   FaultLock::per_vma_if_faulted, Mremap::lookup_first, MremapRoom::moves, kAdvice61, AdviseFlush::per_vma, AdviseLock::mmap},
  {"6.12", Upgrade::exclusive, WpReuse::exclusive, Seal::in_loop, SealDiscard::no_file, Guards::absent,
   Merge::faulted_neighbour, Uncharge::unfaulted, ProtectFlush::when_needed, ProtectFlush::always,
   FaultLock::per_vma, Mremap::lookup_first, MremapRoom::moves, kAdvice61, AdviseFlush::per_vma, AdviseLock::mmap},
  {"6.18", Upgrade::exclusive, WpReuse::exclusive, Seal::in_loop, SealDiscard::anonymous, Guards::present,
   Merge::either_faulted, Uncharge::unfaulted, ProtectFlush::when_needed, ProtectFlush::always,
   FaultLock::per_vma, Mremap::parameters_first, MremapRoom::moves, kAdvice61, AdviseFlush::per_call, AdviseLock::per_vma},
  {"7.3", Upgrade::exclusive, WpReuse::exclusive, Seal::in_loop, SealDiscard::anonymous, Guards::present,
   Merge::either_faulted, Uncharge::unfaulted, ProtectFlush::when_needed, ProtectFlush::when_needed,
   FaultLock::per_vma, Mremap::parameters_first, MremapRoom::every_call, kAdvice61, AdviseFlush::per_call, AdviseLock::per_vma},
});
// clang-format on

Profile preset(const Series& series, Arch arch) {
  Profile profile;
  profile.version = series.version;
  profile.arch = arch;
  profile.name = (arch == Arch::arm64 ? "arm64/" : "") + profile.version;
  profile.upgrade = series.upgrade;
  profile.wp_reuse = series.wp_reuse;
  profile.seal = series.seal;
  profile.seal_discard = series.seal_discard;
  profile.guards = series.guards;
  profile.merge = series.merge;
  profile.uncharge = series.uncharge;
  profile.protect_flush = arch == Arch::arm64 ? series.flush_arm64 : series.flush_x86_64;
  profile.fault_lock = series.fault_lock;
  profile.mremap = series.mremap;
  profile.mremap_room = series.mremap_room;
  profile.advice = series.advice;
  profile.advise_flush = series.advise_flush;
  profile.advise_lock = series.advise_lock;
  return profile;
}

/// A policy that a name may switch: its values, in the order of its enum, and where it lives.
struct Switch {
  PolicyChoice choice;
  void (*set)(Profile&, std::size_t value);
};

template <auto Member>
void set_member(Profile& profile, std::size_t value) {
  using Enum = std::remove_reference_t<decltype(profile.*Member)>;
  profile.*Member = static_cast<Enum>(value);
}

constexpr auto kUpgrade =
    std::to_array<std::string_view>({"shared-dirty", "page-count", "exclusive-dirty", "exclusive"});
constexpr auto kWpReuse = std::to_array<std::string_view>({"page-count", "exclusive"});
constexpr auto kZeroPage = std::to_array<std::string_view>({"shared", "forbidden"});
constexpr auto kRmw = std::to_array<std::string_view>({"read-first", "write-first"});
constexpr auto kExecOnly = std::to_array<std::string_view>({"readable", "epan", "pku"});
constexpr auto kSeal = std::to_array<std::string_view>({"absent", "upfront", "in-loop"});
constexpr auto kSealDiscard = std::to_array<std::string_view>({"v10-mask", "no-file", "anonymous"});
constexpr auto kGuards = std::to_array<std::string_view>({"absent", "present"});
constexpr auto kMerge = std::to_array<std::string_view>({"faulted-neighbour", "either-faulted"});
constexpr auto kUncharge = std::to_array<std::string_view>({"never", "unfaulted"});

constexpr auto kMremap = std::to_array<std::string_view>({"late-lookup", "lookup-first", "parameters-first"});

constexpr auto kSwitches = std::to_array<Switch>({
    {{"upgrade", kUpgrade}, set_member<&Profile::upgrade>},
    {{"wp-reuse", kWpReuse}, set_member<&Profile::wp_reuse>},
    {{"zero-page", kZeroPage}, set_member<&Profile::zero_page>},
    {{"rmw", kRmw}, set_member<&Profile::rmw>},
    {{"exec-only", kExecOnly}, set_member<&Profile::exec_only>},
    {{"seal", kSeal}, set_member<&Profile::seal>},
    {{"seal-discard", kSealDiscard}, set_member<&Profile::seal_discard>},
    {{"guards", kGuards}, set_member<&Profile::guards>},
    {{"merge", kMerge}, set_member<&Profile::merge>},
    {{"uncharge", kUncharge}, set_member<&Profile::uncharge>},
    {{"mremap", kMremap}, set_member<&Profile::mremap>},
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
  if (profile.exec_only == ExecOnly::pku && profile.arch != Arch::x86_64) {
    return std::unexpected("exec-only=pku is a feature of x86-64: expected an x86-64 profile");
  }
  return {};
}

}  // namespace

std::span<const Profile> presets() {
  static const std::vector<Profile> all = [] {
    std::vector<Profile> list;
    for (const auto& series : kSeries) {
      list.push_back(preset(series, Arch::x86_64));
      list.push_back(preset(series, Arch::arm64));
    }
    return list;
  }();
  return all;
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
