#pragma once

#include <cstdint>

#include "mm/frame.h"

namespace faultline::mm {

/// A page-table entry: a PTE, or a PMD that maps a huge page (kHuge). Zero is none. The permission bits are what the
/// processor enforces: a PROT_NONE entry is present to the kernel and grants nothing (A.1).
class Pte {
 public:
  static constexpr std::uint64_t kPresent = 1U << 0;
  static constexpr std::uint64_t kRead = 1U << 1;
  static constexpr std::uint64_t kWrite = 1U << 2;
  static constexpr std::uint64_t kExec = 1U << 3;
  static constexpr std::uint64_t kDirty = 1U << 4;
  static constexpr std::uint64_t kYoung = 1U << 5;
  static constexpr std::uint64_t kGuard = 1U << 7;      // a marker of MADV_GUARD_INSTALL; never together with kPresent
  static constexpr std::uint64_t kHuge = 1U << 8;       // a PMD that maps a huge page; never a guard
  static constexpr std::uint64_t kSoftDirty = 1U << 9;  // written to since clear_refs(4); kept on every kernel
  static constexpr std::uint64_t kUffdWp = 1U << 10;    // a userfaultfd protects it; without kPresent a marker
  /// What a fault for a write, or a new page that is written to, leaves (pte_mkdirty).
  static constexpr std::uint64_t kWritten = kDirty | kSoftDirty;
  static constexpr std::uint64_t kSavedWrite = 1U << 16;  // up to 6.1: was writable before a NUMA pass took all access
  static constexpr unsigned kKeyShift = 20;
  static constexpr std::uint64_t kKey = 0xfU << kKeyShift;  // the number of the protection key
  /// The bits that protection decides; the others survive a change of it.
  static constexpr std::uint64_t kProtection = kRead | kWrite | kExec | kKey | kSavedWrite;
  static constexpr std::uint64_t key_bits(unsigned key) { return std::uint64_t{key} << kKeyShift; }

  constexpr Pte() = default;
  static constexpr Pte make(FrameId frame, std::uint64_t bits) {
    return Pte{(std::uint64_t{frame.index} << kFrameShift) | kPresent | bits};
  }
  static constexpr Pte guard_marker() { return Pte{kGuard}; }
  static constexpr Pte uffd_wp_marker() { return Pte{kUffdWp}; }

  bool operator==(const Pte&) const = default;
  constexpr bool none() const { return value_ == 0; }
  constexpr bool has(std::uint64_t bits) const { return (value_ & bits) != 0; }
  constexpr bool present() const { return has(kPresent); }
  constexpr bool write() const { return has(kWrite); }
  constexpr bool soft_dirty() const { return has(kSoftDirty); }
  constexpr bool dirty() const { return has(kDirty); }
  constexpr bool guard() const { return has(kGuard); }
  constexpr bool uffd_wp() const { return has(kUffdWp); }
  constexpr bool uffd_marker() const { return uffd_wp() && !present(); }
  /// No page is there, and the first touch is to find one: none, or protected while empty.
  constexpr bool vacant() const { return none() || uffd_marker(); }
  constexpr bool huge() const { return has(kHuge); }
  constexpr PageSize size() const { return huge() ? PageSize::huge : PageSize::base; }
  /// Present and granting something, so that a processor may have it in its TLB.
  constexpr bool accessible() const { return present() && has(kRead | kWrite | kExec); }
  constexpr FrameId frame() const { return FrameId{static_cast<std::uint32_t>(value_ >> kFrameShift)}; }
  /// Maps the zero page, or the huge zero page.
  constexpr bool zero_page() const { return present() && frame() == kZeroFrame; }
  constexpr std::uint8_t key() const { return static_cast<std::uint8_t>((value_ & kKey) >> kKeyShift); }
  constexpr std::uint64_t protection() const { return value_ & kProtection; }

  constexpr Pte with(std::uint64_t bits) const { return Pte{value_ | bits}; }
  constexpr Pte without(std::uint64_t bits) const { return Pte{value_ & ~bits}; }
  /// pte_modify(): new protection; frame, dirty and young stay.
  constexpr Pte with_protection(std::uint64_t bits) const { return Pte{(value_ & ~kProtection) | bits}; }
  /// The same bits for the frame `pages` further on; the zero page is its own neighbour.
  constexpr Pte advanced(std::int64_t pages) const {
    return zero_page() ? *this : Pte{value_ + (static_cast<std::uint64_t>(pages) << kFrameShift)};
  }

 private:
  explicit constexpr Pte(std::uint64_t value) : value_(value) {}
  static constexpr unsigned kFrameShift = 32;

  std::uint64_t value_ = 0;
};

}  // namespace faultline::mm
