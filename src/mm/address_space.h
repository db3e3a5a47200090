#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "base/counters.h"
#include "base/errno.h"
#include "base/flags.h"
#include "base/page.h"
#include "base/signal.h"
#include "mm/file.h"
#include "mm/limits.h"
#include "mm/mdwe.h"
#include "mm/pin.h"
#include "mm/pkeys.h"
#include "mm/profile.h"
#include "mm/system.h"
#include "mm/trace.h"
#include "mm/tree_work.h"
#include "mm/userfaultfd.h"
#include "mm/vma.h"

namespace faultline::mm {

struct Mm;

/// What a probe of a range finds: the model's side of run::Shape.
struct RangeState {
  std::uint64_t vmas = 0;      // that overlap the range
  std::uint64_t present = 0;   // pages with a present PTE, the zero page included
  std::uint64_t writable = 0;  // of those, writable without a fault
  std::uint64_t huge = 0;      // of those present, mapped by huge pages
};

/// One page as pagemap(5) would describe it.
struct PageState {
  bool present = false;
  bool writable = false;
  bool dirty = false;
  bool exclusive = false;
  bool zero_page = false;
  bool guard = false;
  bool huge = false;         // part of a huge page
  bool cached = false;       // belongs to a file or to shared memory
  bool soft_dirty = false;   // written to since clear_refs(4), or not known not to be
  bool uffd_wp = false;      // a userfaultfd protects it from writing, present or not
  bool mapped_once = false;  // by this entry and no other of any process; never the zero page
};

/// A process's memory: what mm_struct is to the kernel. Calls take raw arguments as the system call does, refuse in the
/// kernel's order, and leave after a failure what the kernel leaves. Addresses are chosen top-down and are the same in
/// every run. Not thread-safe. Address spaces of one System share its frames.
class AddressSpace {
 public:
  explicit AddressSpace(System& system);
  ~AddressSpace();
  AddressSpace(const AddressSpace&) = delete;
  AddressSpace& operator=(const AddressSpace&) = delete;

  /// mmap(2) (D.5). `file` is what the descriptor refers to, nullptr for one that is not open (EBADF); not looked at
  /// with MAP_ANONYMOUS.
  Result<Addr> mmap(Addr hint, std::uint64_t length, Prot prot, MapFlags flags, const File* file = nullptr,
                    std::uint64_t offset = 0);
  /// ftruncate(2): EINVAL for a negative length or a file that is not open for writing, EPERM for a sealed size.
  Result<void> ftruncate(const File& file, std::uint64_t length);
  /// munmap(2) (D.4).
  Result<void> munmap(Addr start, std::uint64_t length);
  /// mprotect(2) (D.3).
  Result<void> mprotect(Addr start, std::uint64_t length, Prot prot);
  /// pkey_mprotect(2) (D.14): EINVAL for a key that is not allocated; with kNoPkey it is mprotect.
  Result<void> pkey_mprotect(Addr start, std::uint64_t length, Prot prot, int pkey);
  /// pkey_alloc(2) and pkey_free(2): EINVAL for flags, unknown rights and keys that are not allocated, ENOSPC where
  /// none is left. pkey_alloc gives the thread that runs these rights to the new key.
  Result<std::uint64_t> pkey_alloc(std::uint64_t flags, PkeyRights rights);
  Result<void> pkey_free(int key);
  /// pkey_set(3) and pkey_get(3), no system calls: the rights of the thread that runs. EINVAL for what is no key or no
  /// right, ENOSYS where the processor has no keys.
  Result<void> pkey_set(int key, PkeyRights rights);
  Result<std::uint64_t> pkey_get(int key) const;
  /// Which thread runs, as far as rights are concerned; a forked child begins with those of its parent.
  const Pkru& rights() const;
  void run_with(const Pkru& rights);
  /// madvise(2) (D.7). `advice` may be any int; an unknown one is EINVAL.
  Result<void> madvise(Addr start, std::uint64_t length, Advice advice);
  /// mseal(2) (C.1). ENOSYS where the profile has none.
  Result<void> mseal(Addr start, std::uint64_t length, std::uint64_t flags);
  /// mremap(2) (D.6): the address where the mapping now is.
  Result<Addr> mremap(Addr old, std::uint64_t old_length, std::uint64_t new_length, RemapFlags flags, Addr target = {});
  /// The raw brk(2) system call: the new break, or the old one when it could not be moved.
  Addr brk(Addr requested);
  /// fork(2): the child's address space; both live on. nullptr where the kernel may not promise the child as much as
  /// the parent has (ENOMEM).
  std::unique_ptr<AddressSpace> fork();

  /// mlock2(2), munlock(2), mlockall(2), munlockall(2): EPERM and ENOMEM by RLIMIT_MEMLOCK.
  Result<void> mlock(Addr start, std::uint64_t length, LockFlags flags = LockFlags::none);
  Result<void> munlock(Addr start, std::uint64_t length);
  Result<void> mlockall(LockAllFlags flags);
  void munlockall();
  /// msync(2).
  Result<void> msync(Addr start, std::uint64_t length, SyncFlags flags);
  /// mincore(2): writes a byte per page to `vec`, 1 for one that is mapped or that its file has cached.
  Result<void> mincore(Addr start, std::uint64_t length, Addr vec);
  /// userfaultfd(2): EPERM without UFFD_USER_MODE_ONLY, as the process has no privileges, where the profile's kernel
  /// knows that flag; EINVAL for unknown ones.
  Result<std::shared_ptr<Userfaultfd>> userfaultfd(UffdFlags flags);
  /// Writes that number to /proc/self/clear_refs (proc_pid_clear_refs(5)): 4 begins soft-dirty tracking anew. EINVAL
  /// unless it is 1 to 5.
  Result<void> clear_refs(int number);
  /// prctl(2) PR_SET_MDWE and PR_GET_MDWE.
  Result<void> set_mdwe(DenyWriteExec bits);
  DenyWriteExec mdwe() const;
  /// prctl(2) PR_SET_VMA_ANON_NAME: names the VMAs of a range, or takes their names away. EINVAL where the profile has
  /// no names, EBADF for what may not have one.
  Result<void> set_vma_name(Addr start, std::uint64_t length, std::optional<std::string_view> name);
  /// The name of the VMA at `addr`, empty if it has none; nothing where none is mapped.
  std::optional<std::string_view> vma_name(Addr addr) const;
  /// prlimit(2) of RLIMIT_AS, RLIMIT_DATA, RLIMIT_MEMLOCK and RLIMIT_STACK; all unlimited at first but the last, which
  /// is 8 MiB and bounds what grows down. Inherited by fork.
  const Limit& limit(Resource resource) const;
  Result<void> set_limit(Resource resource, Limit limit);

  /// Holds the pages of a range for a device, for writing: EFAULT where that is not allowed (A.8).
  Result<std::shared_ptr<PinnedPages>> pin(Addr start, std::uint64_t bytes);
  /// One pass of NUMA balancing over a range (A.8).
  void numa_pass(Range range);

  /// One access by one instruction of the user's program: what it gives, or the signal that it ended in. `text` is the
  /// page that holds the instruction; absent means ordinary readable text.
  std::expected<std::uint8_t, Signal> load(Addr addr, std::optional<Addr> text = {});
  std::expected<void, Signal> store(Addr addr, std::uint8_t value);
  /// Adds `addend` to the 64-bit word at `addr`, which is 8-byte aligned, with one atomic read-modify-write instruction
  /// (LDADD, LOCK XADD); gives the word before.
  std::expected<std::uint64_t, Signal> atomic_add(Addr addr, std::uint64_t addend, std::optional<Addr> text = {});
  /// An instruction fetch.
  std::expected<void, Signal> fetch(Addr addr);
  /// The kernel writes into user memory (copy_to_user), or clears `length` bytes of it, or reads it (copy_from_user):
  /// how many bytes it could before the first page that forbids it. Faults are taken, but never a signal (C7 of the
  /// cases).
  std::uint64_t copy_to_user(Addr addr, std::span<const std::uint8_t> bytes);
  std::uint64_t clear_user(Addr addr, std::uint64_t length);
  std::uint64_t copy_from_user(std::span<std::uint8_t> bytes, Addr addr);
  /// The same with page faults disabled: it stops at the first page that would fault.
  std::uint64_t copy_from_user_inatomic(std::span<std::uint8_t> bytes, Addr addr);

  /// The byte at `addr` without an access: 0 where nothing is present.
  std::uint8_t peek(Addr addr) const;
  /// The protection of the VMA at `addr`, or nothing where none is.
  std::optional<Prot> protection(Addr addr) const;
  /// VMAs in the whole address space.
  std::uint64_t vma_count() const;
  RangeState state(Range range) const;
  PageState page(Addr addr) const;
  /// Calls `visit` for each VMA that overlaps the range, in order of address.
  void for_each_vma(Range range, const std::function<void(const Vma&)>& visit) const;

  /// What has been counted since the address space began (a forked child begins at zero).
  const Counters& counters() const;
  /// From now on it is followed what the kernel's own tree of VMAs takes for each change, up to 6.0 for searches too.
  /// It doubles what a change of the VMAs costs here, so that it is off unless asked for.
  void follow_tree();
  /// What it has taken since then.
  TreeWork tree_work() const;
  System& system();
  const System& system() const;
  const Profile& profile() const;
  const Tunables& tunables() const;

  /// Tells `observer` of every decision from now on; nullptr (the default) costs nothing.
  void observe(Observer* observer);

  /// The whole-state invariant check: VMAs ordered and disjoint, counts agree, every PTE inside a VMA and no more
  /// permissive than it, reference counts equal the PTEs that point there. Nothing when all holds, else what does not.
  std::optional<std::string> check() const;

 private:
  explicit AddressSpace(std::unique_ptr<Mm> mm);
  std::unique_ptr<Mm> mm_;
};

}  // namespace faultline::mm
