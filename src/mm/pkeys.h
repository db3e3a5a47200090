#pragma once

#include <cstdint>
#include <optional>

#include "base/errno.h"
#include "base/flags.h"
#include "mm/vma.h"

/// Protection keys of x86-64, pkeys(7): every mapping has one of 16 keys, and every thread its rights to each. D.14.
namespace faultline::mm {

struct Mm;
struct Profile;

/// 0 to 15. Mappings begin with key 0.
using Pkey = std::uint8_t;
inline constexpr unsigned kPkeys = 16;
/// In place of a key: pkey_mprotect(2) is mprotect(2).
inline constexpr int kNoPkey = -1;

constexpr Pkey pkey_of(VmFlags flags) {
  return static_cast<Pkey>(static_cast<std::uint64_t>(flags & VmFlags::pkey) >> kPkeyShift);
}
constexpr VmFlags pkey_flags(Pkey key) { return static_cast<VmFlags>(std::uint64_t{key} << kPkeyShift); }

/// What a thread may not do, with the values of PKEY_DISABLE_ACCESS and PKEY_DISABLE_WRITE. Unknown bits are kept, so
/// that a call can refuse them.
enum class PkeyRights : std::uint64_t { all = 0, disable_access = 1, disable_write = 2 };
}  // namespace faultline::mm

template <>
inline constexpr bool faultline::kIsFlagSet<faultline::mm::PkeyRights> = true;

namespace faultline::mm {

/// A thread's rights to all keys (the PKRU register). Fetches need none.
class Pkru {
 public:
  /// As exec leaves them: all to key 0, none to the others.
  constexpr Pkru() = default;

  constexpr PkeyRights rights(Pkey key) const { return static_cast<PkeyRights>(bits_ >> (2 * key) & 3U); }
  constexpr void set(Pkey key, PkeyRights rights) {
    bits_ &= ~(3U << (2 * key));
    bits_ |= static_cast<std::uint32_t>(rights) << (2 * key);
  }
  constexpr bool allows_reads(Pkey key) const { return !has(rights(key), PkeyRights::disable_access); }
  constexpr bool allows_writes(Pkey key) const { return rights(key) == PkeyRights::all; }
  bool operator==(const Pkru&) const = default;

 private:
  std::uint32_t bits_ = 0x55555554;
};

/// Which keys a process has: those that pkey_alloc(2) gave, and one that the kernel takes for itself when it first
/// needs it, for mappings that can be executed only. The calls treat that one as not allocated.
struct PkeyMap {
  std::uint16_t allocated = 0;
  std::optional<Pkey> execute_only;

  bool is_allocated(int key) const {
    return key >= 0 && key < static_cast<int>(kPkeys) && key != execute_only && (allocated >> key & 1U) != 0;
  }
};
/// That of a new process.
PkeyMap initial_pkeys(const Profile& profile);

/// May a thread with these rights make this access to data of the VMA, as far as its key is concerned
/// (arch_vma_access_permitted)? The kernel asks before it touches user memory for the thread, too.
enum class DataAccess : std::uint8_t { read, write };
bool pkey_permits(const Pkru& pkru, const Vma& vma, DataAccess access);

/// The key of a new mapping with this protection.
Pkey pkey_of_mapping(Mm& mm, Prot prot);
/// The key that mprotect(2) or, with a key, pkey_mprotect(2) gives a VMA.
Pkey pkey_after_mprotect(Mm& mm, const Vma& vma, Prot prot, int asked);
/// ENOSYS where the kernel has no such calls.
Result<void> check_pkey_calls(const Mm& mm);
/// EINVAL where pkey_mprotect(2) may not give mappings this key.
Result<void> check_pkey(Mm& mm, int key, Range asked);

Result<std::uint64_t> do_pkey_alloc(Mm& mm, std::uint64_t flags, PkeyRights rights);
Result<void> do_pkey_free(Mm& mm, int key);
Result<void> do_pkey_set(Mm& mm, int key, PkeyRights rights);
Result<std::uint64_t> do_pkey_get(const Mm& mm, int key);
/// Another thread runs from now on.
void switch_rights(Mm& mm, Pkru rights);

}  // namespace faultline::mm
