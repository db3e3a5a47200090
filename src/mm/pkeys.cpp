#include "mm/pkeys.h"

#include <bit>
#include <utility>

#include "mm/mm.h"

namespace faultline::mm {
namespace {

constexpr Pkey kDefaultKey = 0;
constexpr PkeyRights kKnownRights = PkeyRights::disable_access | PkeyRights::disable_write;

bool has_keys(const Mm& mm) { return mm.profile().pkeys == Pkeys::present; }

/// arm64 knows two rights more (PKEY_DISABLE_EXECUTE, PKEY_DISABLE_READ), also where the processor has no keys.
PkeyRights known_rights(const Mm& mm) {
  constexpr auto kArm64 = static_cast<PkeyRights>(0xf);
  return mm.profile().arch == arch::Arch::arm64 ? kArm64 : kKnownRights;
}

/// The lowest free key.
std::optional<Pkey> allocate(PkeyMap& keys) {
  const auto key = static_cast<Pkey>(std::countr_one(keys.allocated));
  if (key >= kPkeys) return std::nullopt;
  keys.allocated = static_cast<std::uint16_t>(keys.allocated | 1U << key);
  return key;
}

/// There is one key. On x86-64 the first call takes it, finds no register to set, and cannot give it back.
int refusal_without_keys(Mm& mm) {
  if (mm.profile().keyless_calls != KeylessCalls::invalid) return ENOSPC;
  return std::exchange(mm.pkeys.allocated, std::uint16_t{1U << kDefaultKey}) == 0 ? EINVAL : ENOSPC;
}

/// The software TLB holds what the rights allow.
void set_rights(Mm& mm, Pkey key, PkeyRights rights) {
  Pkru changed = mm.pkru;
  changed.set(key, rights);
  switch_rights(mm, changed);
}

/// The process's key for what can be executed only, whose data the running thread may not access; nothing where none is
/// left.
std::optional<Pkey> execute_only_key(Mm& mm) {
  std::optional<Pkey>& key = mm.pkeys.execute_only;
  const bool is_new = !key;
  if (is_new) key = allocate(mm.pkeys);
  if (key && (is_new || mm.pkru.allows_reads(*key))) set_rights(mm, *key, PkeyRights::disable_access);
  return key;
}

bool is_execute_only(const Mm& mm, const Vma& vma) {
  return (vma.flags & VmFlags::access) == VmFlags::exec && mm.pkeys.execute_only == pkey_of(vma.flags);
}

/// pkey_set(3) looks at its arguments, and a processor without keys has no register to write.
Result<void> check_register(const Mm& mm, int key) {
  if (!has_keys(mm)) return fail(ENOSYS);
  if (key < 0 || key >= static_cast<int>(kPkeys)) return fail(EINVAL);
  return {};
}

}  // namespace

PkeyMap initial_pkeys(const Profile& profile) {
  // x86-64 without keys gives none to a new process, and takes key 0 for that of executable memory.
  if (profile.pkeys == Pkeys::absent && profile.keyless_calls == KeylessCalls::invalid) {
    return {.allocated = 0, .execute_only = kDefaultKey};
  }
  return {.allocated = 1U << kDefaultKey, .execute_only = {}};
}

bool pkey_permits(const Pkru& pkru, const Vma& vma, DataAccess access) {
  const Pkey key = pkey_of(vma.flags);
  return access == DataAccess::write ? pkru.allows_writes(key) : pkru.allows_reads(key);
}

Pkey pkey_of_mapping(Mm& mm, Prot prot) {
  if (!has_keys(mm) || prot != Prot::exec) return kDefaultKey;
  return execute_only_key(mm).value_or(kDefaultKey);
}

Pkey pkey_after_mprotect(Mm& mm, const Vma& vma, Prot prot, int asked) {
  if (!has_keys(mm)) return kDefaultKey;
  if (asked != kNoPkey) return static_cast<Pkey>(asked);
  if (prot == Prot::exec) {
    if (const auto key = execute_only_key(mm); key && *key != kDefaultKey) return *key;
  } else if (is_execute_only(mm, vma)) {
    return kDefaultKey;
  }
  return pkey_of(vma.flags);
}

Result<void> check_pkey_calls(const Mm& mm) {
  if (!has_keys(mm) && mm.profile().keyless_calls == KeylessCalls::unknown) return fail(ENOSYS);
  return {};
}

Result<void> check_pkey(Mm& mm, int key, Range asked) {
  if (key == kNoPkey || mm.pkeys.is_allocated(key)) return {};
  return mm.refuse(EINVAL, Rule::bad_argument, asked);
}

Result<std::uint64_t> do_pkey_alloc(Mm& mm, std::uint64_t flags, PkeyRights rights) {
  if (auto fine = check_pkey_calls(mm); !fine) return std::unexpected(fine.error());
  if (flags != 0 || has(rights, ~known_rights(mm))) return fail(EINVAL);
  mm.count(Counter::mmap_lock_write);
  if (!has_keys(mm)) return fail(refusal_without_keys(mm));
  const auto key = allocate(mm.pkeys);
  if (!key) return fail(ENOSPC);
  set_rights(mm, *key, rights);
  return *key;
}

Result<void> do_pkey_free(Mm& mm, int key) {
  if (auto fine = check_pkey_calls(mm); !fine) return fine;
  mm.count(Counter::mmap_lock_write);
  if (!mm.pkeys.is_allocated(key)) return fail(EINVAL);
  // Mappings keep it, and threads their rights.
  mm.pkeys.allocated = static_cast<std::uint16_t>(mm.pkeys.allocated & ~(1U << key));
  return {};
}

Result<void> do_pkey_set(Mm& mm, int key, PkeyRights rights) {
  if (auto fine = check_register(mm, key); !fine) return fine;
  if (has(rights, ~kKnownRights)) return fail(EINVAL);
  set_rights(mm, static_cast<Pkey>(key), rights);
  return {};
}

Result<std::uint64_t> do_pkey_get(const Mm& mm, int key) {
  if (auto fine = check_register(mm, key); !fine) return std::unexpected(fine.error());
  return static_cast<std::uint64_t>(mm.pkru.rights(static_cast<Pkey>(key)));
}

void switch_rights(Mm& mm, Pkru rights) {
  if (mm.pkru == rights) return;
  mm.pkru = rights;
  mm.tlb.clear();
}

}  // namespace faultline::mm
