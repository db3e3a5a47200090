#include "agent/process_memory.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

#include "agent/arch.h"
#include "agent/descriptor.h"
#include "agent/smaps.h"
#include "run/state_digest.h"

namespace faultline::agent {
namespace {

// pagemap(5).
constexpr std::uint64_t kPresent = std::uint64_t{1} << 63;
constexpr std::uint64_t kSwapped = std::uint64_t{1} << 62;
constexpr std::uint64_t kFileOrShared = std::uint64_t{1} << 61;
constexpr std::uint64_t kGuard = std::uint64_t{1} << 58;
constexpr std::uint64_t kUffdWp = std::uint64_t{1} << 57;
constexpr std::uint64_t kMappedOnce = std::uint64_t{1} << 56;
constexpr std::uint64_t kSoftDirty = std::uint64_t{1} << 55;

// PAGEMAP_SCAN (since 6.7), declared here because older headers lack it.
struct ScannedRegion {
  std::uint64_t start;
  std::uint64_t end;
  std::uint64_t categories;
};
struct ScanArguments {
  std::uint64_t size;
  std::uint64_t flags;
  std::uint64_t start;
  std::uint64_t end;
  std::uint64_t walk_end;
  std::uint64_t vec;
  std::uint64_t vec_len;
  std::uint64_t max_pages;
  std::uint64_t category_inverted;
  std::uint64_t category_mask;
  std::uint64_t category_anyof_mask;
  std::uint64_t return_mask;
};
constexpr unsigned long kPagemapScan = _IOWR('f', 16, ScanArguments);
constexpr std::uint64_t kPageIsHuge = 1 << 6;

/// Where no page is, what a userfaultfd protects looks swapped out.
bool is_there(std::uint64_t entry) {
  return (entry & kPresent) != 0 || ((entry & kSwapped) != 0 && (entry & (kGuard | kUffdWp)) == 0);
}

/// Does pagemap show what a userfaultfd protects (5.14 on)?
bool shows_uffd_wp() {
  utsname kernel{};
  unsigned major = 0;
  unsigned minor = 0;
  if (uname(&kernel) != 0) return false;
  const char* const end = kernel.release + std::strlen(kernel.release);
  const auto first = std::from_chars(kernel.release, end, major);
  if (first.ec != std::errc{} || first.ptr == end) return false;
  if (std::from_chars(first.ptr + 1, end, minor).ec != std::errc{}) return false;
  return major > 5 || (major == 5 && minor >= 14);
}

/// As long as it lives, this thread may access memory of every protection key.
class EveryKey {
 public:
  EveryKey() : before_(arch::key_rights()) { arch::set_key_rights(0); }
  ~EveryKey() { arch::set_key_rights(before_); }
  EveryKey(const EveryKey&) = delete;
  EveryKey& operator=(const EveryKey&) = delete;

 private:
  std::uint32_t before_;
};

}  // namespace

ProcessMemory::ProcessMemory() { open_files(); }
ProcessMemory::~ProcessMemory() { close_files(); }

void ProcessMemory::open_files() {
  maps_ = out_of_the_way(open("/proc/self/maps", O_RDONLY | O_CLOEXEC));
  pagemap_ = out_of_the_way(open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC));
}

void ProcessMemory::close_files() {
  for (int* file : {&maps_, &pagemap_, &smaps_, &mem_}) {
    if (*file >= 0) close(*file);
    *file = -1;
  }
}

void ProcessMemory::reopen() {
  close_files();
  open_files();
}

std::uint64_t ProcessMemory::count_areas(std::optional<Range> range) const {
  std::uint64_t count = 0;
  for_each_area(range.value_or(Range{Addr{0}, Addr{~std::uint64_t{0}}}), [&](const MappedArea&) { ++count; });
  return count;
}

/// The entries of pagemap up to an end, read ahead.
class ProcessMemory::Entries {
 public:
  Entries(int pagemap, Addr end) : pagemap_(pagemap), end_(end.page()) {}

  /// That of a page; 0 where none can be read. Pages are best asked for in order.
  std::uint64_t at(std::uint64_t page) {
    if (page < first_ || page >= first_ + count_) read_from(page);
    return page < first_ + count_ ? entries_[page - first_] : 0;
  }

 private:
  void read_from(std::uint64_t page) {
    const std::uint64_t wanted = std::min<std::uint64_t>(entries_.size(), end_ - page);
    const ssize_t got = pread(pagemap_, entries_.data(), wanted * 8, static_cast<off_t>(page * 8));
    first_ = page;
    count_ = got < 8 ? 0 : static_cast<std::uint64_t>(got) / 8;
  }

  int pagemap_;
  std::uint64_t end_;
  std::uint64_t first_ = 0;
  std::uint64_t count_ = 0;
  std::array<std::uint64_t, 2048> entries_;
};

std::uint64_t ProcessMemory::resident_in(Range pages) const {
  Entries entries(pagemap_, pages.end);
  std::uint64_t there = 0;
  for (std::uint64_t page = pages.start.page(); page < pages.end.page(); ++page) there += is_there(entries.at(page));
  return there;
}

std::uint8_t ProcessMemory::hidden_byte(Addr addr) const {
  if (mem_ < 0) mem_ = out_of_the_way(open("/proc/self/mem", O_RDONLY | O_CLOEXEC));
  std::uint8_t byte = 0;
  // Not an access by this process: it also reads what PROT_NONE hides.
  if (pread(mem_, &byte, 1, static_cast<off_t>(addr.value)) != 1) return 0;
  return byte;
}

std::uint64_t ProcessMemory::state(Range range) const {
  run::StateDigest digest(range);
  const EveryKey reader;
  Entries entries(pagemap_, Addr{page_ceil(range.end.value)});
  for_each_area(range, [&](const MappedArea& area) {
    digest.vma({area.range, area.prot, area.shared, area.offset});
    const Range part = area.range.intersect(range);
    for (Addr page = part.start.page_floor(); page < part.end; page = page + kPageSize) {
      const std::uint64_t entry = entries.at(page.page());
      digest.tracking({page, tracks_soft_dirty_ && (entry & kSoftDirty) != 0, (entry & kUffdWp) != 0});
      if (!is_there(entry)) continue;
      // Where a page can be read by an access of this process, that is by far the quickest, and no fault as it is
      // there.
      // What can be written can be read too, on both architectures.
      const bool shown = has(area.prot, Prot::read | Prot::write);
      const std::uint8_t byte = shown ? *reinterpret_cast<const volatile std::uint8_t*>(page.value) : hidden_byte(page);
      // Some kernels count the huge zero page as a file's.
      const bool cached = area.has_file && (entry & kFileOrShared) != 0;
      digest.page({page, byte, cached, (entry & kMappedOnce) != 0});
    }
  });
  return digest.value();
}

std::uint64_t ProcessMemory::resident(Range range) const {
  std::uint64_t there = 0;
  for_each_area(range, [&](const MappedArea& area) { there += resident_in(area.range.intersect(range)); });
  return there;
}

std::optional<std::uint64_t> ProcessMemory::huge(Range range) const {
  const auto scanned = scanned_huge(range);
  if (scanned) return scanned;
  return anon_huge_pages(smaps(), range);
}

int ProcessMemory::smaps() const {
  if (smaps_ < 0) smaps_ = out_of_the_way(open("/proc/self/smaps", O_RDONLY | O_CLOEXEC));
  return smaps_;
}

std::uint64_t ProcessMemory::vm_flags(Addr addr) const {
  std::uint64_t found = 0;
  each_vm_flags(smaps(), Range::of(addr, 1), [&](Range, std::uint64_t flags) { found = flags; });
  return found;
}

std::uint64_t ProcessMemory::flags(Range range) const {
  run::FlagsDigest digest(range);
  each_vm_flags(smaps(), range, [&](Range area, std::uint64_t flags) { digest.vma(area, flags); });
  return digest.value();
}

std::uint64_t ProcessMemory::protection_key(Addr addr) const { return agent::protection_key(smaps(), addr); }

std::optional<std::uint64_t> ProcessMemory::scanned_huge(Range range) const {
  std::optional<std::uint64_t> pages = 0;
  for_each_area(range, [&](const MappedArea& area) {
    const auto found = huge_in(area.range.intersect(range));
    pages = pages && found ? std::optional(*pages + *found) : std::nullopt;
  });
  return pages;
}

std::uint64_t ProcessMemory::with_bit(Range range, std::uint64_t bit) const {
  std::uint64_t pages = 0;
  Entries entries(pagemap_, range.end);
  for_each_area(range, [&](const MappedArea& area) {
    const Range part = area.range.intersect(range);
    for (std::uint64_t page = part.start.page(); page < part.end.page(); ++page) {
      if ((entries.at(page) & bit) != 0) ++pages;
    }
  });
  return pages;
}

std::uint64_t ProcessMemory::soft_dirty(Range range) const { return with_bit(range, kSoftDirty); }

std::optional<std::uint64_t> ProcessMemory::uffd_wp(Range range) const {
  if (!shows_uffd_wp()) return std::nullopt;
  return with_bit(range, kUffdWp);
}

std::optional<Prot> ProcessMemory::protection(Addr addr) const {
  std::optional<Prot> found;
  const Range byte{addr, Addr{addr.value + 1}};
  for_each_area(byte, [&](const MappedArea& area) {
    if (area.range.contains(addr)) found = area.prot;
  });
  return found;
}

bool ProcessMemory::is_named(Addr addr, std::string_view name) const {
  bool named = false;
  auto look = [&](const MappedArea& area) {
    std::string_view shown = area.name;
    for (const std::string_view kind : {"[anon:", "[anon_shmem:"}) {
      if (!shown.starts_with(kind) || !shown.ends_with(']')) continue;
      shown = shown.substr(kind.size(), shown.size() - kind.size() - 1);
      named = named || shown == name;
      return;
    }
    named = named || name.empty();
  };
  using Look = decltype(look);
  parse_areas(
      {addr, Addr{addr.value + 1}}, [](void* context, const MappedArea& area) { (*static_cast<Look*>(context))(area); },
      &look);
  return named;
}

std::uint8_t ProcessMemory::byte_at(Addr addr) const {
  std::uint64_t entry = 0;
  if (pread(pagemap_, &entry, sizeof entry, static_cast<off_t>(addr.page() * 8)) != sizeof entry) return 0;
  if (!is_there(entry)) return 0;
  return hidden_byte(addr);
}

std::optional<std::uint64_t> ProcessMemory::huge_in(Range range) const {
  std::array<ScannedRegion, 64> regions;
  std::uint64_t pages = 0;
  ScanArguments scan{};
  scan.size = sizeof scan;
  scan.start = range.start.value;
  scan.end = range.end.value;
  scan.vec = reinterpret_cast<std::uint64_t>(regions.data());
  scan.vec_len = regions.size();
  scan.category_mask = kPageIsHuge;
  scan.return_mask = kPageIsHuge;
  while (scan.start < scan.end) {
    const int found = ioctl(pagemap_, kPagemapScan, &scan);
    if (found < 0) return std::nullopt;
    for (int i = 0; i < found; ++i) pages += (regions[i].end - regions[i].start) >> kPageShift;
    if (scan.walk_end <= scan.start) break;
    scan.start = scan.walk_end;
  }
  return pages;
}

run::Shape ProcessMemory::shape(Range range) const {
  run::Shape shape;
  std::uint64_t vmas = 0;
  std::uint64_t present = 0;
  for_each_area(range, [&](const MappedArea& area) {
    ++vmas;
    present += resident_in(area.range.intersect(range));
  });
  shape.vmas = vmas;
  shape.present = present;
  // Not by smaps, which takes long where there are many areas.
  shape.huge = scanned_huge(range);
  return shape;
}

}  // namespace faultline::agent
