#pragma once

#include <array>
#include <cstdint>

#include "base/errno.h"
#include "mm/vma.h"

namespace faultline::mm {

struct Mm;

/// The resources of getrlimit(2) that memory calls look at, with the kernel's numbers.
enum class Resource : std::uint8_t { data = 2, stack = 3, memlock = 8, address_space = 9 };

/// In bytes.
struct Limit {
  static constexpr std::uint64_t kUnlimited = ~std::uint64_t{0};
  std::uint64_t soft = kUnlimited;
  std::uint64_t hard = kUnlimited;
  std::uint64_t soft_pages() const { return soft >> kPageShift; }
  std::uint64_t hard_pages() const { return hard >> kPageShift; }
  bool operator==(const Limit&) const = default;
};

/// Does memory with these flags count as data? Private and writable, and no stack.
constexpr bool is_data(VmFlags flags) {
  return (flags & (VmFlags::write | VmFlags::shared | VmFlags::grows_down)) == VmFlags::write;
}

/// What an address space has of what is limited, in pages.
struct Usage {
  std::uint64_t total = 0;   // total_vm
  std::uint64_t data = 0;    // data_vm: private and writable
  std::uint64_t locked = 0;  // locked_vm
  bool operator==(const Usage&) const = default;

  /// Adds, or takes away, that many pages of a mapping with these flags.
  void add(VmFlags flags, std::uint64_t pages) {
    total += pages;
    if (is_data(flags)) data += pages;
    if (has(flags, VmFlags::locked)) locked += pages;
  }
  void remove(VmFlags flags, std::uint64_t pages) { add(flags, 0 - pages); }
  /// That many pages of a mapping get other flags.
  void change(VmFlags before, VmFlags after, std::uint64_t pages) {
    if (is_data(before) != is_data(after)) data += is_data(after) ? pages : 0 - pages;
    if (has(before ^ after, VmFlags::locked)) locked += has(after, VmFlags::locked) ? pages : 0 - pages;
  }
};

/// The limits of a process. It has no privilege: what it lowers it does not raise again.
class Limits {
 public:
  const Limit& of(Resource resource) const { return limits_[index(resource)]; }
  /// Do RLIMIT_AS and RLIMIT_DATA allow `pages` more with these flags, once `replaced` pages are gone (may_expand_vm)?
  bool allow(const Usage& usage, VmFlags flags, std::uint64_t pages, std::uint64_t replaced = 0) const {
    if (usage.total + pages - replaced > of(Resource::address_space).soft_pages()) return false;
    const Limit& data = of(Resource::data);
    const std::uint64_t wanted = usage.data + pages - replaced;
    if (!is_data(flags) || wanted <= data.soft_pages()) return true;
    // A limit of 0 is for programs that the kernel lets have brk only, and means the hard one here.
    return data.soft == 0 && wanted <= data.hard_pages();
  }
  /// prlimit(2): EINVAL if soft is above hard, EPERM if hard would rise.
  Result<void> set(Resource resource, Limit limit);

 private:
  static constexpr std::size_t index(Resource resource) {
    switch (resource) {
      case Resource::data:
        return 0;
      case Resource::memlock:
        return 1;
      case Resource::stack:
        return 2;
      case Resource::address_space:
        break;
    }
    return 3;
  }
  /// _STK_LIM: the one that a process has before anybody sets it.
  static constexpr Limit kStack{std::uint64_t{8} << 20, Limit::kUnlimited};
  std::array<Limit, 4> limits_{Limit{}, Limit{}, kStack, Limit{}};
};

/// May the process lock anything at all (can_do_mlock)?
bool may_lock(const Mm& mm);

/// Does RLIMIT_MEMLOCK allow a mapping with these flags to have `pages` more (mlock_future_ok)?
bool lock_fits(const Mm& mm, VmFlags flags, std::uint64_t pages);

/// Pages of the range that VMAs cover, of those that have all the flags.
std::uint64_t mapped_pages(const Mm& mm, Range range, VmFlags flags = VmFlags::none);

}  // namespace faultline::mm
