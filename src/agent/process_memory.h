#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/flags.h"
#include "base/page.h"
#include "run/row.h"

namespace faultline::agent {

/// One line of /proc/self/maps.
struct MappedArea {
  Range range;
  Prot prot = Prot::none;
  bool shared = false;
  bool has_file = false;     // shared anonymous memory has one too
  std::uint64_t offset = 0;  // in bytes, of what has a file; else 0
  std::string_view name{};   // the last column of the text, as long as the visit lasts; not of a query
};

/// What the kernel tells of this process's memory, without changing it and without allocating.
class ProcessMemory {
 public:
  ProcessMemory();
  ~ProcessMemory();
  ProcessMemory(const ProcessMemory&) = delete;
  ProcessMemory& operator=(const ProcessMemory&) = delete;
  /// After a fork: /proc/self was the parent when it was opened.
  void reopen();

  /// Calls `visit` for each area that overlaps the range, in order of address. The vsyscall page is no VMA and left
  /// out.
  template <class Visit>
  void for_each_area(Range range, Visit visit) const {
    visit_areas(range, [](void* context, const MappedArea& area) { (*static_cast<Visit*>(context))(area); }, &visit);
  }

  std::uint64_t count_areas(std::optional<Range> range) const;
  /// Pages that are present or swapped out; guard regions are neither.
  std::uint64_t resident(Range range) const;
  /// Of those, pages mapped by huge entries. Before 6.7 without the huge zero page, and nothing where an area with huge
  /// pages lies only partly in the range.
  std::optional<std::uint64_t> huge(Range range) const;
  /// Pages whose soft-dirty bit is set; none on a kernel without such bits.
  std::uint64_t soft_dirty(Range range) const;
  /// Pages that a userfaultfd protects from writing. Nothing before 5.14, which does not show them.
  std::optional<std::uint64_t> uffd_wp(Range range) const;
  /// From now on state() tells soft-dirty pages apart.
  void track_soft_dirty() { tracks_soft_dirty_ = true; }
  std::optional<Prot> protection(Addr addr) const;
  /// The protection key of the area there.
  std::uint64_t protection_key(Addr addr) const;
  /// Is the anonymous area there called so (`[anon:NAME]`, `[anon_shmem:NAME]`)?
  bool is_named(Addr addr, std::string_view name) const;
  /// The flags of the area there as smaps shows them, a set of base/vm_flags.h; none where nothing is mapped.
  std::uint64_t vm_flags(Addr addr) const;
  /// The digest of the flags of all areas of the range.
  std::uint64_t flags(Range range) const;
  /// The byte there, read without a fault of this process; 0 where no page is, or where the kernel does not show what
  /// the process hides from itself (proc_mem.force_override, 6.12 on).
  std::uint8_t byte_at(Addr addr) const;
  run::Shape shape(Range range) const;
  /// The digest of what can be observed of the range (run/state_digest.h).
  std::uint64_t state(Range range) const;

 private:
  using VisitFunction = void (*)(void* context, const MappedArea& area);
  void visit_areas(Range range, VisitFunction visit, void* context) const;
  bool query_areas(Range range, VisitFunction visit, void* context) const;
  void parse_areas(Range range, VisitFunction visit, void* context) const;
  std::uint64_t resident_in(Range pages) const;
  /// Pages of the range's areas whose entry in pagemap has the bit.
  std::uint64_t with_bit(Range range, std::uint64_t bit) const;
  class Entries;
  int smaps() const;
  /// The byte of a page that is there.
  std::uint8_t hidden_byte(Addr addr) const;
  std::optional<std::uint64_t> scanned_huge(Range range) const;
  std::optional<std::uint64_t> huge_in(Range range) const;

  void open_files();
  void close_files();

  int maps_ = -1;
  int pagemap_ = -1;
  bool tracks_soft_dirty_ = false;
  // Opened when first asked for.
  mutable int smaps_ = -1;
  mutable int mem_ = -1;
};

}  // namespace faultline::agent
