#include "mm/profile.h"

#include <algorithm>
#include <array>
#include <vector>

namespace faultline::mm {
namespace {

using arch::Arch;

/// What a kernel series does: the profile of its x86-64 build, and what arm64 does otherwise. Adding a kernel is adding
/// a row.
struct Series {
  Profile x86_64;
  ProtectFlush flush_on_arm64;
  UffdFeatures not_on_arm64 = UffdFeatures::none;
};

constexpr AdviceSet kAdvice61 = AdviceSet::populate | AdviceSet::dontneed_locked | AdviceSet::collapse;

constexpr UffdFeatures kUffd510{0x1ff};
constexpr UffdFeatures kUffd61{0x1fff};
constexpr UffdFeatures kUffd68{0x1ffff};
constexpr UffdFeatures kUffd73{0x7ffff};
/// What takes bits in the page tables, for which arm64 had no room before 6.10.
constexpr UffdFeatures kUffdInTables = UffdFeatures::pagefault_flag_wp | UffdFeatures::wp_hugetlbfs_shmem |
                                       UffdFeatures::wp_unpopulated | UffdFeatures::wp_async;

const Series kSeries[] = {
    {{.version = "5.10",
      .upgrade = Upgrade::shared_dirty,
      .wp_reuse = WpReuse::page_count,
      .first_write = FirstWrite::retried,
      .huge_zero = HugeZero::split,
      .large_reuse = LargeReuse::single_reference,
      .large_advice = LargeAdvice::this_page,
      .split_dirty = SplitDirty::dropped,
      .split_zeroes = SplitZeroes::kept,
      .collapse = Collapse::writable,
      .table_reclaim = TableReclaim::unmap_only,
      .soft_dirty = SoftDirty::present,
      .soft_dirty_merge = SoftDirtyMerge::by_the_call,
      .uffd_features = kUffd510,
      .uffd_access = UffdAccess::everybody,
      .uffd_range = UffdRange::one_mapping,
      .uffd_unprotect = UffdUnprotect::by_mapping,
      .uffd_unregister = UffdUnregister::keeps_protection,
      .uffd_close = UffdClose::keeps_protection,
      .uffd_move = UffdMove::keeps_protection,
      .uffd_lock = UffdLock::mmap,
      .pagemap_uffd = PagemapUffd::hidden,
      .seal = Seal::absent,
      .seal_discard = SealDiscard::no_file,
      .guards = Guards::absent,
      .guard_mark = GuardMark::anon_vma,
      .merge = Merge::faulted_neighbour,
      .uncharge = Uncharge::never,
      .protect_flush = ProtectFlush::when_changed,
      .fault_lock = FaultLock::mmap,
      .mremap = Mremap::late_lookup,
      .mremap_room = MremapRoom::moves,
      .remap_kept = RemapKept::entangled,
      .sealed_file = SealedFile::refuses_shared,
      .mmap_order = MmapOrder::unmaps_first,
      .mdwe = Mdwe::absent,
      .vma_naming = VmaNaming::absent,
      .map_stack = MapStack::nothing,
      .stack_lock = StackLock::read,
      .unmap_lock = UnmapLock::read_unless_below_stack,
      .droppable = Droppable::absent,
      .numa_pass = NumaPass::single_reference,
      .memfd_exec = MemfdExec::always,
      .write_prefault = WritePrefault::every_byte,
      .advice = AdviceSet::none,
      .populate_holes = PopulateHoles::passed_over,
      .advise_flush = AdviseFlush::per_vma,
      .advise_lock = AdviseLock::mmap,
      .lru_batch = 15},
     ProtectFlush::when_changed,
     kUffdInTables},
    {{.version = "6.1",
      .upgrade = Upgrade::exclusive_dirty,
      .wp_reuse = WpReuse::exclusive,
      .first_write = FirstWrite::completed,
      .huge_zero = HugeZero::split,
      .large_reuse = LargeReuse::single_reference,
      .large_advice = LargeAdvice::first_page,
      .split_dirty = SplitDirty::dropped,
      .split_zeroes = SplitZeroes::kept,
      .collapse = Collapse::writable,
      .table_reclaim = TableReclaim::unmap_only,
      .soft_dirty = SoftDirty::present,
      .soft_dirty_merge = SoftDirtyMerge::by_the_call,
      .uffd_features = kUffd61,
      .uffd_access = UffdAccess::user_mode_only,
      .uffd_range = UffdRange::one_mapping,
      .uffd_unprotect = UffdUnprotect::by_mapping,
      .uffd_unregister = UffdUnregister::unprotects,
      .uffd_close = UffdClose::keeps_protection,
      .uffd_move = UffdMove::keeps_protection,
      .uffd_lock = UffdLock::mmap,
      .pagemap_uffd = PagemapUffd::shown,
      .seal = Seal::absent,
      .seal_discard = SealDiscard::no_file,
      .guards = Guards::absent,
      .guard_mark = GuardMark::anon_vma,
      .merge = Merge::faulted_neighbour,
      .uncharge = Uncharge::never,
      .protect_flush = ProtectFlush::when_needed,
      .fault_lock = FaultLock::mmap,
      .mremap = Mremap::lookup_first,
      .mremap_room = MremapRoom::moves,
      .remap_kept = RemapKept::entangled,
      .sealed_file = SealedFile::refuses_writers,
      .mmap_order = MmapOrder::seals_first,
      .mdwe = Mdwe::absent,
      .vma_naming = VmaNaming::absent,
      .map_stack = MapStack::nothing,
      .stack_lock = StackLock::write,
      .unmap_lock = UnmapLock::read_unless_below_stack,
      .droppable = Droppable::absent,
      .numa_pass = NumaPass::single_reference,
      .memfd_exec = MemfdExec::always,
      .write_prefault = WritePrefault::any_byte,
      .advice = kAdvice61,
      .populate_holes = PopulateHoles::passed_over,
      .advise_flush = AdviseFlush::per_vma,
      .advise_lock = AdviseLock::mmap,
      .lru_batch = 15},
     ProtectFlush::always,
     kUffdInTables},
    {{.version = "6.8",
      .upgrade = Upgrade::exclusive,
      .wp_reuse = WpReuse::exclusive,
      .first_write = FirstWrite::completed,
      .huge_zero = HugeZero::split,
      .large_reuse = LargeReuse::single_reference,
      .large_advice = LargeAdvice::first_page,
      .split_dirty = SplitDirty::kept,
      .split_zeroes = SplitZeroes::kept,
      .collapse = Collapse::writable,
      .table_reclaim = TableReclaim::unmap_only,
      .soft_dirty = SoftDirty::present,
      .soft_dirty_merge = SoftDirtyMerge::by_the_call,
      .uffd_features = kUffd68,
      .uffd_access = UffdAccess::user_mode_only,
      .uffd_range = UffdRange::mappings,
      .uffd_unprotect = UffdUnprotect::upgrades,
      .uffd_unregister = UffdUnregister::unprotects,
      .uffd_close = UffdClose::keeps_protection,
      .uffd_move = UffdMove::keeps_protection,
      .uffd_lock = UffdLock::mmap,
      .pagemap_uffd = PagemapUffd::shown,
      .seal = Seal::absent,
      .seal_discard = SealDiscard::no_file,
      .guards = Guards::absent,
      .guard_mark = GuardMark::anon_vma,
      .merge = Merge::faulted_neighbour,
      .uncharge = Uncharge::unfaulted,
      .protect_flush = ProtectFlush::when_needed,
      .fault_lock = FaultLock::per_vma_if_faulted,
      .mremap = Mremap::lookup_first,
      .mremap_room = MremapRoom::moves,
      .remap_kept = RemapKept::entangled,
      .sealed_file = SealedFile::refuses_writers,
      .mmap_order = MmapOrder::unmaps_first,
      .mdwe = Mdwe::present,
      .vma_naming = VmaNaming::absent,
      .map_stack = MapStack::no_huge_pages,
      .stack_lock = StackLock::write,
      .unmap_lock = UnmapLock::read,
      .droppable = Droppable::absent,
      .numa_pass = NumaPass::mapped_once,
      .memfd_exec = MemfdExec::chosen,
      .write_prefault = WritePrefault::any_byte,
      .advice = kAdvice61,
      .populate_holes = PopulateHoles::passed_over,
      .advise_flush = AdviseFlush::per_vma,
      .advise_lock = AdviseLock::mmap,
      .lru_batch = 15},
     ProtectFlush::always,
     kUffdInTables},
    {{.version = "6.12",
      .upgrade = Upgrade::exclusive,
      .wp_reuse = WpReuse::exclusive,
      .first_write = FirstWrite::completed,
      .huge_zero = HugeZero::split,
      .large_reuse = LargeReuse::never,
      .large_advice = LargeAdvice::estimated,
      .split_dirty = SplitDirty::kept,
      .split_zeroes = SplitZeroes::zero_page,
      .collapse = Collapse::writable,
      .table_reclaim = TableReclaim::unmap_only,
      .soft_dirty = SoftDirty::present,
      .soft_dirty_merge = SoftDirtyMerge::by_the_call,
      .uffd_features = kUffd68,
      .uffd_access = UffdAccess::user_mode_only,
      .uffd_range = UffdRange::mappings,
      .uffd_unprotect = UffdUnprotect::upgrades,
      .uffd_unregister = UffdUnregister::unprotects,
      .uffd_close = UffdClose::unprotects,
      .uffd_move = UffdMove::unprotects,
      .uffd_lock = UffdLock::per_vma,
      .pagemap_uffd = PagemapUffd::shown,
      .seal = Seal::in_loop,
      .seal_discard = SealDiscard::no_file,
      .guards = Guards::absent,
      .guard_mark = GuardMark::anon_vma,
      .merge = Merge::faulted_neighbour,
      .uncharge = Uncharge::unfaulted,
      .protect_flush = ProtectFlush::when_needed,
      .fault_lock = FaultLock::per_vma,
      .mremap = Mremap::lookup_first,
      .mremap_room = MremapRoom::moves,
      .remap_kept = RemapKept::distinct,
      .sealed_file = SealedFile::refuses_writers,
      .mmap_order = MmapOrder::checks_first,
      .mdwe = Mdwe::present,
      .vma_naming = VmaNaming::absent,
      .map_stack = MapStack::no_huge_pages,
      .stack_lock = StackLock::write,
      .unmap_lock = UnmapLock::read,
      .droppable = Droppable::watchable,
      .numa_pass = NumaPass::mapped_once,
      .memfd_exec = MemfdExec::chosen,
      .write_prefault = WritePrefault::any_byte,
      .advice = kAdvice61,
      .populate_holes = PopulateHoles::refused,
      .advise_flush = AdviseFlush::per_vma,
      .advise_lock = AdviseLock::mmap,
      .lru_batch = 31},
     ProtectFlush::always},
    {{.version = "6.18",
      .upgrade = Upgrade::exclusive,
      .wp_reuse = WpReuse::exclusive,
      .first_write = FirstWrite::completed,
      .huge_zero = HugeZero::allocate,
      .large_reuse = LargeReuse::all_mine,
      .large_advice = LargeAdvice::by_process,
      .split_dirty = SplitDirty::kept,
      .split_zeroes = SplitZeroes::zero_page,
      .collapse = Collapse::any_page,
      .table_reclaim = TableReclaim::discard,
      .soft_dirty = SoftDirty::present,
      .soft_dirty_merge = SoftDirtyMerge::by_the_call,
      .uffd_features = kUffd68,
      .uffd_access = UffdAccess::user_mode_only,
      .uffd_range = UffdRange::mappings,
      .uffd_unprotect = UffdUnprotect::upgrades,
      .uffd_unregister = UffdUnregister::unprotects,
      .uffd_close = UffdClose::unprotects,
      .uffd_move = UffdMove::unprotects,
      .uffd_lock = UffdLock::per_vma,
      .pagemap_uffd = PagemapUffd::shown,
      .seal = Seal::in_loop,
      .seal_discard = SealDiscard::anonymous,
      .guards = Guards::present,
      .guard_mark = GuardMark::flag,
      .merge = Merge::either_faulted,
      .uncharge = Uncharge::unfaulted,
      .protect_flush = ProtectFlush::when_needed,
      .fault_lock = FaultLock::per_vma,
      .mremap = Mremap::parameters_first,
      .mremap_room = MremapRoom::moves,
      .remap_kept = RemapKept::entangled,
      .sealed_file = SealedFile::refuses_writers,
      .mmap_order = MmapOrder::checks_first,
      .mdwe = Mdwe::present,
      .vma_naming = VmaNaming::absent,
      .map_stack = MapStack::no_huge_pages,
      .stack_lock = StackLock::write,
      .unmap_lock = UnmapLock::read,
      .droppable = Droppable::unwatchable,
      .numa_pass = NumaPass::mapped_once,
      .memfd_exec = MemfdExec::chosen,
      .write_prefault = WritePrefault::on_failure,
      .advice = kAdvice61,
      .populate_holes = PopulateHoles::refused,
      .advise_flush = AdviseFlush::per_call,
      .advise_lock = AdviseLock::per_vma,
      .lru_batch = 31},
     ProtectFlush::always},
    {{.version = "7.3",
      .upgrade = Upgrade::exclusive,
      .wp_reuse = WpReuse::exclusive,
      .first_write = FirstWrite::completed,
      .huge_zero = HugeZero::allocate,
      .large_reuse = LargeReuse::all_mine,
      .large_advice = LargeAdvice::by_process,
      .split_dirty = SplitDirty::kept,
      .split_zeroes = SplitZeroes::zero_page,
      .collapse = Collapse::any_range,
      .table_reclaim = TableReclaim::discard,
      .soft_dirty = SoftDirty::present,
      .soft_dirty_merge = SoftDirtyMerge::sticky,
      .uffd_features = kUffd73,
      .uffd_access = UffdAccess::user_mode_only,
      .uffd_range = UffdRange::mappings,
      .uffd_unprotect = UffdUnprotect::upgrades,
      .uffd_unregister = UffdUnregister::unprotects,
      .uffd_close = UffdClose::unprotects,
      .uffd_move = UffdMove::unprotects,
      .uffd_lock = UffdLock::per_vma,
      .pagemap_uffd = PagemapUffd::shown,
      .seal = Seal::in_loop,
      .seal_discard = SealDiscard::anonymous,
      .guards = Guards::present,
      .guard_mark = GuardMark::flag,
      .merge = Merge::either_faulted,
      .uncharge = Uncharge::unfaulted,
      .protect_flush = ProtectFlush::when_needed,
      .fault_lock = FaultLock::per_vma,
      .mremap = Mremap::parameters_first,
      .mremap_room = MremapRoom::every_call,
      .remap_kept = RemapKept::distinct,
      .sealed_file = SealedFile::refuses_writers,
      .mmap_order = MmapOrder::checks_first,
      .mdwe = Mdwe::present,
      .vma_naming = VmaNaming::absent,
      .map_stack = MapStack::no_huge_pages,
      .stack_lock = StackLock::write,
      .unmap_lock = UnmapLock::read,
      .droppable = Droppable::unwatchable,
      .numa_pass = NumaPass::mapped_once,
      .memfd_exec = MemfdExec::chosen,
      .write_prefault = WritePrefault::on_failure,
      .advice = kAdvice61,
      .populate_holes = PopulateHoles::refused,
      .advise_flush = AdviseFlush::per_call,
      .advise_lock = AdviseLock::per_vma,
      .lru_batch = 31},
     ProtectFlush::when_needed},
};

Profile preset(const Series& series, Arch arch) {
  Profile profile = series.x86_64;
  profile.arch = arch;
  profile.name = (arch == Arch::arm64 ? "arm64/" : "") + profile.version;
  if (arch == Arch::arm64) {
    profile.protect_flush = series.flush_on_arm64;
    profile.soft_dirty = SoftDirty::absent;
    profile.uffd_features &= ~series.not_on_arm64;
  }
  return profile;
}

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
constexpr auto kExecOnly = std::to_array<std::string_view>({"readable", "epan", "pku"});
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
  if (profile.exec_only == ExecOnly::pku && profile.arch != Arch::x86_64) {
    return std::unexpected("exec-only=pku is a feature of x86-64: expected an x86-64 profile");
  }
  if (profile.soft_dirty == SoftDirty::present && profile.arch != Arch::x86_64) {
    return std::unexpected("soft-dirty=present is a feature of x86-64: expected an x86-64 profile");
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
