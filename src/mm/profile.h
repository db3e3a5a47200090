#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <string_view>

#include "arch/arch.h"
#include "base/flags.h"
#include "mm/accounting.h"
#include "mm/uffd_flags.h"

/// The kernel that a model behaves as: a set of policies, each one switchable rule. Letters are sections of
/// docs/kernel-semantics.md.
namespace faultline::mm {

/// May mprotect itself make a private PTE writable (A.2)?
enum class Upgrade : std::uint8_t {
  shared_dirty,     // up to 5.19: never for private memory
  page_count,       // the v5 patch of 2021: dirty anonymous pages with one reference
  exclusive_dirty,  // 6.0, 6.1: dirty pages that are exclusive
  exclusive,        // 6.2 on: exclusive pages, clean ones too
};

/// Reuse or copy on a write-protect fault (A.6)?
enum class WpReuse : std::uint8_t {
  page_count,  // up to 5.18: reuse when this is the only reference
  exclusive,   // 5.19 on: the exclusive mark decides first
};

/// How is an atomic's first fault on arm64 taken (B.3)? x86-64 reports a locked instruction as a write by itself.
enum class Rmw : std::uint8_t {
  read_first,
  write_first,  // the v5 patch of 2024, never merged: decode the instruction, fault as a write
};

/// What a read of an untouched page maps (A.6).
enum class ZeroPage : std::uint8_t {
  shared,        // the zero page, read-only: a later write faults again
  not_on_reads,  // a page of its own; UFFDIO_ZEROPAGE maps the zero page all the same: some hypervisors' guests
  forbidden,     // a page of its own, and nothing else maps the zero page either (mm_forbids_zeropage)
};

/// How does a fault end that was the first to write to a page of shared memory (A.4)?
enum class FirstWrite : std::uint8_t {
  retried,    // up to 5.19: it is taken again without mmap_lock held meanwhile, and counts as a major fault
  completed,  // 6.0 on: a minor fault
};

/// Which mappings get huge pages (/sys/kernel/mm/transparent_hugepage/enabled).
enum class Thp : std::uint8_t {
  never,
  madvise,  // those that asked with MADV_HUGEPAGE
  always,   // all but those that declined with MADV_NOHUGEPAGE
};

/// What a write to the huge zero page does (B.5, B.7).
enum class HugeZero : std::uint8_t {
  split,     // up to 6.12: it is split, and one base page is copied
  allocate,  // 6.13 on: a huge page takes its place
};

/// When is a write-protected part of a huge page reused that is not marked exclusive (A.6)?
enum class LargeReuse : std::uint8_t {
  single_reference,  // the last part that is mapped
  never,             // 6.9 to 6.14
  all_mine,          // 6.15 on: every reference is a mapping of this process, of more than one part
};

/// When MADV_FREE and MADV_COLD meet a large folio that PTEs map: is it split, and by whose mappings does the kernel
/// tell that others share it (B.5)?
enum class LargeAdvice : std::uint8_t {
  this_page,   // up to 5.x: always split; those of the page at hand
  first_page,  // up to 6.9: always split; those of the folio's first page
  estimated,   // 6.10 to 6.14: split unless all of it is in the range; a guess by the number of mappings
  by_process,  // 6.15 on: the same; by process
};

/// Do the parts of a split huge page inherit its dirty bit? It decides whether 6.1 upgrades them.
enum class SplitDirty : std::uint8_t { dropped, kept };

/// What becomes of the parts of a split huge page that hold only zeroes?
enum class SplitZeroes : std::uint8_t {
  kept,
  zero_page,  // 6.12 on: the zero page takes their place
};

/// What MADV_COLLAPSE collapses.
enum class Collapse : std::uint8_t {
  writable,   // only where some page is writable
  any_page,   // 6.18: read-only pages too
  any_range,  // 7.x: a range that no huge page fits in is no error either
};

/// What MADV_COLLAPSE does about a huge page's worth of addresses that nothing was ever faulted into (D.7).
enum class CollapseHoles : std::uint8_t {
  ends,         // nothing behind it is collapsed
  passed_over,  // 7.x
};

/// Are page tables freed by MADV_DONTNEED too (CONFIG_PT_RECLAIM), or by munmap only?
enum class TableReclaim : std::uint8_t { unmap_only, discard };

/// What PROT_EXEC alone gives without protection keys (B.2).
enum class ExecOnly : std::uint8_t {
  readable,  // the page can be read too
  epan,      // arm64 with FEAT_EPAN: execute-only
};

/// Has the processor protection keys, and the kernel uses them (D.14)? With them PROT_EXEC alone is execute-only, too:
/// a key denies the reads.
enum class Pkeys : std::uint8_t { absent, present };

/// What pkey_alloc(2) and its kin say where there are none.
enum class KeylessCalls : std::uint8_t {
  unknown,   // arm64 up to 6.11: ENOSYS
  invalid,   // x86-64: EINVAL, also for key 0
  no_space,  // arm64 from 6.12 on: ENOSPC; key 0 is there
};

/// Are soft-dirty bits kept (CONFIG_MEM_SOFT_DIRTY, A.5)? Distributions build x86-64 with them; arm64 has no room for
/// one.
enum class SoftDirty : std::uint8_t { absent, present };

/// What becomes of VM_SOFTDIRTY where mappings merge, of which one has it (A.5).
enum class SoftDirtyMerge : std::uint8_t {
  by_the_call,  // up to 6.18: all get what the part has that the call changes, or what the mapping has that stays
  sticky,       // 7.x: all have it where either side had it
};

/// Who may have a userfaultfd (D.9).
enum class UffdAccess : std::uint8_t {
  everybody,       // 5.10: vm.unprivileged_userfaultfd is 1 by default
  user_mode_only,  // 5.11 on: without privileges only with UFFD_USER_MODE_ONLY
};

/// What requests to a userfaultfd can be about.
enum class UffdRange : std::uint8_t {
  one_mapping,  // up to 6.3: UFFDIO_WRITEPROTECT of no more, and the end of one merges with nothing behind it
  mappings,
};

/// May UFFDIO_REGISTER make a mapping lose the mode of write protection that it was registered with?
enum class UffdRemode : std::uint8_t {
  any,
  wp_stays,  // 7.x: EBUSY
};

/// What the end of the protection leaves.
enum class UffdUnprotect : std::uint8_t {
  by_mapping,  // up to 6.1: what the mapping's flags say, read-only for private memory
  upgrades,    // 6.2 on: the tests of mprotect's upgrade
};

/// Does UFFDIO_UNREGISTER take the protection of entries away?
enum class UffdUnregister : std::uint8_t { keeps_protection, unprotects };

/// And the end of the userfaultfd itself?
enum class UffdClose : std::uint8_t { keeps_protection, unprotects };

/// And mremap, which moves entries to where nobody watches them?
enum class UffdMove : std::uint8_t {
  keeps_protection,
  unprotects,        // 6.13 on, and late releases of 6.12
  unprotects_apart,  // 7.x: nor does the copy merge with anything; before, a neighbour that it merged with was watched
                     // no more
};

/// Do page tables have a bit for what a userfaultfd protects? Where they have none, 5.10 accepts the requests and makes
/// pages read-only, and the next write makes them writable again (D.9).
enum class UffdMarks : std::uint8_t { absent, in_tables };

/// What UFFDIO_COPY does where a guard is (D.9).
enum class UffdGuard : std::uint8_t {
  replaced,  // up to 6.18: a page takes its place, as that of any marker
  refused,   // 7.x: EEXIST
};

/// Does UFFDIO_COPY take the lock of the VMA only (6.9 on)?
enum class UffdLock : std::uint8_t { mmap, per_vma };

/// Does pagemap show what a userfaultfd protects (5.14 on)?
enum class PagemapUffd : std::uint8_t { hidden, shown };

/// Where the seal is tested (C.3).
enum class Seal : std::uint8_t { absent, upfront, in_loop };

/// Which advice a sealed VMA refuses (C.4).
enum class SealDiscard : std::uint8_t {
  v10_mask,   // v10 and 6.10.0: the mask error, nearly all advice
  no_file,    // 6.10.x to 6.16: discards, private, no file behind
  anonymous,  // 6.17 on: discards of anonymous VMAs
};

/// Are MADV_GUARD_INSTALL and MADV_GUARD_REMOVE known (D.7)?
enum class Guards : std::uint8_t { absent, present };

/// What MADV_GUARD_INSTALL leaves on a VMA, so that fork copies its markers.
enum class GuardMark : std::uint8_t {
  anon_vma,  // an anon_vma
  flag,  // late 6.18 on: a flag, which spreads to whatever the VMA merges with; an anon_vma on anonymous memory only
};

/// Do instruction fetches see what was stored to a page, or has the kernel to write its cache lines back and drop what
/// was fetched before an entry first lets the page be executed (arm64 without CTR_EL0.DIC and IDC)?
enum class Icache : std::uint8_t { coherent, maintained };

/// Which neighbours merge (D.1).
enum class Merge : std::uint8_t {
  faulted_neighbour,  // an unfaulted neighbour does not absorb a faulted range
  either_faulted,     // 6.16 on: either side may be unfaulted, if the faulted one was not cloned by fork
};

/// Which neighbour mmap asks first whether a new mapping may merge with it. The other then compares with that one's
/// anon_vma as if it were the new mapping's (D.1).
enum class MmapMerge : std::uint8_t {
  prev_first,
  next_first,  // 6.1 to 6.11: so an unfaulted one below does not merge where a faulted one above does
};

/// Does taking write away from an unfaulted mapping give its commit charge back (A.3)? It decides whether it merges
/// again.
enum class Uncharge : std::uint8_t { never, unfaulted };

/// Does a change of protection take the entries of a large folio one by one, or those in a row together? Together they
/// all become dirty, and with it softly dirty, where any but the first is.
enum class ProtectBatch : std::uint8_t {
  page,
  folio,  // 6.17 on
};

/// When does a change of protection flush the TLB (A.3)?
enum class ProtectFlush : std::uint8_t {
  when_changed,  // up to 5.18: one flush of each VMA's range if any entry changed
  always,        // arm64 from 5.19: gathered, for every entry that changed
  when_needed,   // x86-64 from 5.19, arm64 in 7.x: only for entries that granted something before
};

/// Which lock a page fault takes.
enum class FaultLock : std::uint8_t {
  mmap,                // mmap_lock for reading
  per_vma_if_faulted,  // 6.4 to 6.9: the VMA's own lock, once it has an anon_vma
  per_vma,             // 6.10 on: also before, except for the first write
};

/// In which order mremap refuses, and what it can do (C.3, D.6).
enum class Mremap : std::uint8_t {
  late_lookup,       // 5.10: the mapping is looked up last; growth in place does not merge with the next one
  lookup_first,      // up to 6.16: no mapping is EFAULT before anything else about addresses
  parameters_first,  // 6.17 on: every parameter first; a move of equal size may span several mappings
};

/// How much room below max_map_count mremap wants (D.2).
enum class MremapRoom : std::uint8_t {
  moves,       // only calls that move, as they come to it
  every_call,  // 7.x: every call, before anything else
};

/// What MREMAP_DONTUNMAP leaves of its source (D.6).
enum class RemapKept : std::uint8_t {
  faulted,    // 5.10: as the next, but a whole one keeps its anon_vma
  entangled,  // up to 6.18: an untouched one may merge with its copy, and all of a locked mapping is unlocked
  distinct,   // 7.x, late releases of 6.12: it stays apart, is split off if locked, and takes its own offset if whole
};

/// Which mappings count towards the commit limit after MREMAP_DONTUNMAP of pages in the middle of one that does (D.6).
enum class RemapCharge : std::uint8_t {
  next_too,  // 5.10: the one behind it as well, whatever it is
  own,
};

/// Which page tables mremap moves with all that is in them (D.6).
enum class RemapTables : std::uint8_t {
  within,   // those whose whole range moves
  widened,  // 6.7 on: the first one too that the range reaches the end of, where nothing is mapped below in it
};

/// Which mappings a write-sealed memfd refuses (D.5). One series of patches (6.7, late 6.1) told shared mappings that
/// are writable from those that may become so.
enum class SealedFile : std::uint8_t {
  refuses_shared,   // 5.10: every shared one; and MADV_REMOVE wants one that is writable now
  refuses_writers,  // then: those that are to be writable
};

/// When mmap looks at seals of the file, resource limits, PR_SET_MDWE and the commit limit (D.5).
enum class MmapOrder : std::uint8_t {
  unmaps_first,  // up to 6.11: limits first; the others once the range is free: what was there is gone
  seals_first,   // late releases of older series, 6.1 among them: the same, but F_SEAL_WRITE before anything
  checks_first,  // 6.12 on: all before anything is unmapped, but for splits at the ends of the range
};

/// Does prctl know PR_SET_MDWE (6.3 on)?
enum class Mdwe : std::uint8_t { absent, present };

/// What prctl's PR_SET_VMA_ANON_NAME may name (5.17 on, where CONFIG_ANON_VMA_NAME is set: Debian's kernels lack it).
enum class VmaNaming : std::uint8_t {
  absent,
  private_only,  // up to 6.1: memory without an object
  anonymous,     // 6.2 on: shared anonymous memory and memfds too
};

/// What MAP_STACK does.
enum class MapStack : std::uint8_t {
  nothing,
  no_huge_pages,  // 6.8 on: the flag of MADV_NOHUGEPAGE, which also keeps it apart from its neighbours
};

/// How mmap_lock is held while a stack grows.
enum class StackLock : std::uint8_t {
  read,
  write,  // 6.5 on, and late releases of older series, 6.1 among them
};

/// What the kernel keeps its VMAs in.
enum class VmaIndex : std::uint8_t {
  rb_tree,             // a node in each VMA
  maple_tree,          // 6.1: nodes of many ranges, copied as they change; as many are set aside as a store can take
  maple_tree_exact,    // 6.6 on: as many as that store takes
  maple_tree_rewrite,  // 6.12 on: and a mapping is stored over what it replaces
  maple_tree_even,     // 7.3: and nodes are evened out
};

/// When are new pages that still wait for the LRU lists put on them for the lists to be true (lru_add_drain)? Always
/// before MADV_FREE and mlock, and:
enum class LruDrain : std::uint8_t {
  unmapping,                 // before anything is unmapped, and before its pages are freed
  unmapping_and_populating,  // 5.18 on: and after the kernel has populated memory
  populating,                // 7.3: after that only; pages that are unmapped while they wait are freed with their batch
};

/// Does unmapping go on with mmap_lock held for reading only, once the VMAs are out of the tree?
enum class UnmapLock : std::uint8_t {
  read_unless_below_stack,  // up to 6.4: not if what comes next could grow down into the range meanwhile
  read,                     // 6.5 on
};

/// Which pages of private memory a pass of NUMA balancing leaves alone, and how a fault on the others knows whether
/// they were writable (A.8).
enum class NumaPass : std::uint8_t {
  single_reference,  // up to 6.1: what has a second reference; the entry keeps whether it was writable
  mapped_once,       // then: what is pinned or mapped twice; the rule of mprotect decides
};

/// MAP_DROPPABLE (6.11 on), and whether a userfaultfd may watch it (D.9).
enum class Droppable : std::uint8_t { absent, watchable, unwatchable };

/// Whether memfd_create lets its caller choose that the file can never be executed (6.3 on).
enum class MemfdExec : std::uint8_t { always, chosen };

/// How much of its bytes write(2) to a file treats as one: what it faults in ahead, and what the file's seals must
/// allow (D.8). It copies a page at a time.
enum class WriteChunk : std::uint8_t {
  page,
  largest_folio,  // 6.10 to 6.12, 7.x; a 6.18 whose shared memory has no huge pages goes by pages
};

/// What write(2) faults in of the caller's buffer before it copies any of it into a page of the file (D.8).
enum class WritePrefault : std::uint8_t {
  every_byte,  // up to 5.15: all of it readable, or nothing of it is written
  any_byte,    // then: what precedes the first unreadable byte is written
  on_failure,  // 6.15 on: it copies first, and faults the buffer in where that fails
};

/// What read(2) says it has copied where a page of the buffer cannot be written (D.8).
enum class ReadShort : std::uint8_t {
  by_pieces,  // 5.10 on arm64: what it copies in one instruction, up to 16 bytes, counts as a whole or not at all
  by_bytes,
};

/// Flags of a mapping that smaps shows on some kernels only.
enum class Smaps : std::uint8_t { none = 0, lock_on_fault = 1, sealed = 2, maybe_guard = 4 };

/// Advice that came later than 5.10; the guards have a policy of their own.
enum class AdviceSet : std::uint8_t { none = 0, populate = 1, dontneed_locked = 2, collapse = 4 };

/// What madvise says where max_map_count does not let it split (D.7).
enum class AdviceLimit : std::uint8_t {
  enomem,  // up to 5.16
  again,   // EAGAIN, as for all memory that the kernel lacks
};

/// What MADV_POPULATE_READ and MADV_POPULATE_WRITE do about a hole (D.7).
enum class PopulateHoles : std::uint8_t {
  passed_over,  // up to 6.8: as all advice does; what follows is populated, and ENOMEM comes at the end
  refused,      // 6.9 on: they stop there
};

/// How pages become locked. That decides, too, whether a lock that populates nothing (MLOCK_ONFAULT) looks whether it
/// would be permitted to (D.8).
enum class MlockPages : std::uint8_t {
  populated,  // up to 5.17: as populating comes upon them, one by one; it looks, and ENOMEM leaves the lock in place
  batched,    // by the walk that gives the VMA its flags, and by faults after that; the lists follow a batch at a time
};

/// Are the flushes of DONTNEED and FREE gathered over the whole call (6.16 on) or done for each VMA?
enum class AdviseFlush : std::uint8_t { per_vma, per_call };

/// Does advice on pages of a single VMA take that VMA's lock (6.17 on) instead of mmap_lock?
enum class AdviseLock : std::uint8_t { mmap, per_vma };

}  // namespace faultline::mm

template <>
inline constexpr bool faultline::kIsFlagSet<faultline::mm::AdviceSet> = true;
template <>
inline constexpr bool faultline::kIsFlagSet<faultline::mm::Smaps> = true;

namespace faultline::mm {

/// A kernel to behave as. `name` is how a person writes it, the policies that were switched included:
/// "6.12", "arm64/6.8+rmw=write-first".
struct Profile {
  std::string name{};
  std::string version{};  // of the preset that it began as: "6.12"
  arch::Arch arch = arch::Arch::x86_64;
  Upgrade upgrade = Upgrade::exclusive;
  WpReuse wp_reuse = WpReuse::exclusive;
  ZeroPage zero_page = ZeroPage::shared;
  FirstWrite first_write = FirstWrite::completed;
  Thp thp = Thp::madvise;
  HugeZero huge_zero = HugeZero::split;
  LargeReuse large_reuse = LargeReuse::single_reference;
  LargeAdvice large_advice = LargeAdvice::estimated;
  SplitDirty split_dirty = SplitDirty::kept;
  SplitZeroes split_zeroes = SplitZeroes::kept;
  Collapse collapse = Collapse::writable;
  CollapseHoles collapse_holes = CollapseHoles::ends;
  TableReclaim table_reclaim = TableReclaim::unmap_only;
  Rmw rmw = Rmw::read_first;
  ExecOnly exec_only = ExecOnly::readable;
  Icache icache = Icache::coherent;
  Pkeys pkeys = Pkeys::present;
  KeylessCalls keyless_calls = KeylessCalls::invalid;
  SoftDirty soft_dirty = SoftDirty::present;
  SoftDirtyMerge soft_dirty_merge = SoftDirtyMerge::by_the_call;
  UffdFeatures uffd_features = UffdFeatures::none;
  UffdAccess uffd_access = UffdAccess::user_mode_only;
  UffdRange uffd_range = UffdRange::mappings;
  UffdRemode uffd_remode = UffdRemode::any;
  UffdUnprotect uffd_unprotect = UffdUnprotect::upgrades;
  UffdUnregister uffd_unregister = UffdUnregister::unprotects;
  UffdClose uffd_close = UffdClose::unprotects;
  UffdMove uffd_move = UffdMove::unprotects;
  UffdMarks uffd_marks = UffdMarks::in_tables;
  UffdGuard uffd_guard = UffdGuard::replaced;
  UffdLock uffd_lock = UffdLock::mmap;
  PagemapUffd pagemap_uffd = PagemapUffd::shown;
  Seal seal = Seal::absent;
  SealDiscard seal_discard = SealDiscard::no_file;
  Guards guards = Guards::absent;
  GuardMark guard_mark = GuardMark::anon_vma;
  Merge merge = Merge::faulted_neighbour;
  MmapMerge mmap_merge = MmapMerge::prev_first;
  Uncharge uncharge = Uncharge::never;
  ProtectFlush protect_flush = ProtectFlush::when_needed;
  ProtectBatch protect_batch = ProtectBatch::page;
  FaultLock fault_lock = FaultLock::mmap;
  Mremap mremap = Mremap::lookup_first;
  MremapRoom mremap_room = MremapRoom::moves;
  RemapKept remap_kept = RemapKept::entangled;
  RemapCharge remap_charge = RemapCharge::own;
  RemapTables remap_tables = RemapTables::within;
  SealedFile sealed_file = SealedFile::refuses_writers;
  MmapOrder mmap_order = MmapOrder::checks_first;
  Mdwe mdwe = Mdwe::absent;
  VmaNaming vma_naming = VmaNaming::absent;
  MapStack map_stack = MapStack::no_huge_pages;
  StackLock stack_lock = StackLock::write;
  UnmapLock unmap_lock = UnmapLock::read;
  Droppable droppable = Droppable::absent;
  NumaPass numa_pass = NumaPass::mapped_once;
  MemfdExec memfd_exec = MemfdExec::chosen;
  ReadShort read_short = ReadShort::by_bytes;
  WriteChunk write_chunk = WriteChunk::page;
  WritePrefault write_prefault = WritePrefault::any_byte;
  AdviceSet advice = AdviceSet::none;
  Smaps smaps = Smaps::none;
  AdviceLimit advice_limit = AdviceLimit::again;
  PopulateHoles populate_holes = PopulateHoles::refused;
  MlockPages mlock_pages = MlockPages::batched;
  AdviseFlush advise_flush = AdviseFlush::per_vma;
  AdviseLock advise_lock = AdviseLock::mmap;
  VmaIndex vma_index = VmaIndex::rb_tree;
  LruDrain lru_drain = LruDrain::unmapping;
  std::uint32_t lru_batch = 15;     // new pages that gather before they go on the LRU lists; 31 from 6.9 on
  std::uint32_t gather_spared = 0;  // places that stay free where unmapped pages gather; 1 from 6.9 on

  // The machine that it runs on, in pages; no preset says anything of it.
  Overcommit overcommit = Overcommit::heuristic;
  std::uint64_t memory = CommitLimits::kUnlimited;  // RAM, without swap
  std::uint64_t commit_limit =
      CommitLimits::kUnlimited;  // CommitLimit of /proc/meminfo: half of that memory, unless said
};

/// The presets, oldest first, x86-64 before arm64.
std::span<const Profile> presets();

/// How much memory the profile's machine promises.
CommitLimits commit_limits(const Profile& profile);

/// A profile from its name: `[x86-64/|arm64/]VERSION[+POLICY=VALUE…]`, where `memory` and `commit-limit` have a size
/// for their value ("256M"). The error says what was expected.
std::expected<Profile, std::string> parse_profile(std::string_view name);

/// One switchable policy and its values, as parse_profile reads them.
struct PolicyChoice {
  std::string_view policy;
  std::span<const std::string_view> values;
  std::size_t (*index)(const Profile&);  // of the profile's value among them

  std::string_view value(const Profile& profile) const { return values[index(profile)]; }
};
std::span<const PolicyChoice> policy_choices();

}  // namespace faultline::mm
