#include "mm/address_space.h"

#include <algorithm>
#include <type_traits>

#include "mm/calls.h"
#include "mm/fault.h"
#include "mm/invariants.h"
#include "mm/mm.h"
#include "mm/numa_hint.h"
#include "mm/soft_dirty.h"
#include "mm/vma_links.h"
#include "mm/vma_stores.h"

namespace faultline::mm {
namespace {

/// Makes an access and hands the frame to `use`, whose result it returns. A hit in the software TLB is the hot path:
/// nothing is built on the way.
template <class Use>
auto access(Mm& mm, Addr addr, AccessKind kind, std::uint8_t need, std::optional<Addr> text, Use use,
            FaultOrigin origin = FaultOrigin::exception) -> std::expected<decltype(use(FrameId{})), Signal> {
  const auto finish = [&](FrameId frame) -> std::expected<decltype(use(FrameId{})), Signal> {
    if constexpr (std::is_void_v<decltype(use(frame))>) {
      use(frame);
      return {};
    } else {
      return use(frame);
    }
  };
  if (const Tlb::Entry* hit = mm.tlb.lookup(addr, need)) [[likely]] {
    return finish(hit->frame);
  }
  const auto frame = touch(mm, addr, kind, text, origin);
  if (!frame) return std::unexpected(frame.error());
  return finish(*frame);
}

/// The bytes of a copy that lie in one page.
struct Part {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
};

enum class PageFaults : std::uint8_t { enabled, disabled };

/// Makes the kernel's access to `length` bytes, page by page: `use(frame, offset, part)` does each. Returns the bytes
/// before the first page that forbids it.
template <class Use>
std::uint64_t in_pages(Mm& mm, Addr addr, std::uint64_t length, AccessKind kind, Use use,
                       PageFaults faults = PageFaults::enabled) {
  const std::uint8_t need = kind == AccessKind::store ? Tlb::kStore : Tlb::kLoad;
  std::uint64_t done = 0;
  while (done < length) {
    const Addr at = addr + done;
    const Part part{done, std::min(length - done, kPageSize - at.page_offset())};
    if (faults == PageFaults::disabled && !granted_at_once(mm, at, kind)) break;
    const auto copied = access(
        mm, at, kind, need, {}, [&](FrameId frame) { use(frame, at.page_offset(), part); }, FaultOrigin::kernel_copy);
    if (!copied) break;
    done += part.count;
  }
  return done;
}

/// As a program shows it on vm that only asks for vmas(). A static program of arm64 has fewer segments, and the
/// vdso cannot be left out there; up to 6.0 the heap is one VMA with the program's last.
Beside beside_program(const Profile& profile) {
  const std::uint64_t with_heap = profile.vma_index == VmaIndex::rb_tree ? 1 : 0;
  return profile.arch == arch::Arch::arm64 ? Beside{.apart = 1, .below = 4 - with_heap, .above = 4}
                                           : Beside{.apart = 0, .below = 7 - with_heap, .above = 2};
}

}  // namespace

AddressSpace::AddressSpace(System& system) : mm_(std::make_unique<Mm>(system)) {}
AddressSpace::AddressSpace(std::unique_ptr<Mm> mm) : mm_(std::move(mm)) {}
AddressSpace::~AddressSpace() = default;

Result<Addr> AddressSpace::mmap(Addr hint, std::uint64_t length, Prot prot, MapFlags flags, const File* file,
                                std::uint64_t offset) {
  return do_mmap(*mm_, hint, length, prot, flags, file, offset);
}
Result<void> AddressSpace::ftruncate(const File& file, std::uint64_t length) {
  return do_ftruncate(*mm_, file, length);
}
Result<void> AddressSpace::munmap(Addr start, std::uint64_t length) { return do_munmap(*mm_, start, length); }
Result<void> AddressSpace::mprotect(Addr start, std::uint64_t length, Prot prot) {
  return do_mprotect(*mm_, start, length, prot);
}
Result<void> AddressSpace::pkey_mprotect(Addr start, std::uint64_t length, Prot prot, int pkey) {
  if (const auto fine = check_pkey_calls(*mm_); !fine) return fine;
  return do_mprotect(*mm_, start, length, prot, pkey);
}
Result<std::uint64_t> AddressSpace::pkey_alloc(std::uint64_t flags, PkeyRights rights) {
  return do_pkey_alloc(*mm_, flags, rights);
}
Result<void> AddressSpace::pkey_free(int key) { return do_pkey_free(*mm_, key); }
Result<void> AddressSpace::pkey_set(int key, PkeyRights rights) { return do_pkey_set(*mm_, key, rights); }
Result<std::uint64_t> AddressSpace::pkey_get(int key) const { return do_pkey_get(*mm_, key); }
const Pkru& AddressSpace::rights() const { return mm_->pkru; }
void AddressSpace::run_with(const Pkru& rights) { switch_rights(*mm_, rights); }
Result<void> AddressSpace::madvise(Addr start, std::uint64_t length, Advice advice) {
  return do_madvise(*mm_, start, length, advice);
}
Result<void> AddressSpace::mseal(Addr start, std::uint64_t length, std::uint64_t flags) {
  return do_mseal(*mm_, start, length, flags);
}
Result<Addr> AddressSpace::mremap(Addr old, std::uint64_t old_length, std::uint64_t new_length, RemapFlags flags,
                                  Addr target) {
  return do_mremap(*mm_, old, old_length, new_length, flags, target);
}
Result<void> AddressSpace::mlock(Addr start, std::uint64_t length, LockFlags flags) {
  return do_mlock(*mm_, start, length, flags);
}
Result<void> AddressSpace::mlockall(LockAllFlags flags) { return do_mlockall(*mm_, flags); }
void AddressSpace::munlockall() { do_munlockall(*mm_); }
Result<void> AddressSpace::msync(Addr start, std::uint64_t length, SyncFlags flags) {
  return do_msync(*mm_, start, length, flags);
}
Result<void> AddressSpace::set_mdwe(DenyWriteExec bits) { return do_set_mdwe(*mm_, bits); }
Result<void> AddressSpace::clear_refs(int number) { return do_clear_refs(*mm_, static_cast<ClearRefs>(number)); }
Result<std::shared_ptr<Userfaultfd>> AddressSpace::userfaultfd(UffdFlags flags) {
  UffdFlags known = UffdFlags::nonblock | UffdFlags::cloexec;
  if (profile().uffd_access == UffdAccess::user_mode_only) {
    known |= UffdFlags::user_mode_only;
    if (!has(flags, UffdFlags::user_mode_only)) return fail(EPERM);
  }
  if (has(flags, ~known)) return fail(EINVAL);
  auto slot = std::ranges::find(mm_->uffds, nullptr);
  if (slot == mm_->uffds.end()) slot = mm_->uffds.insert(slot, nullptr);
  const auto id = static_cast<UffdId>(slot - mm_->uffds.begin() + 1);
  auto made = std::make_shared<Userfaultfd>(*mm_, id, flags);
  *slot = made.get();
  return made;
}
DenyWriteExec AddressSpace::mdwe() const { return mm_->mdwe; }
Result<void> AddressSpace::set_vma_name(Addr start, std::uint64_t length, std::optional<std::string_view> name) {
  return do_set_vma_name(*mm_, start, length, name);
}
std::optional<std::string_view> AddressSpace::vma_name(Addr addr) const {
  const Vma* vma = mm_->vmas.at(addr);
  return vma == nullptr ? std::nullopt : std::optional(mm_->system.vma_names().text(vma->name));
}
Result<std::shared_ptr<PinnedPages>> AddressSpace::pin(Addr start, std::uint64_t bytes) {
  return do_pin(*mm_, start, bytes);
}
void AddressSpace::numa_pass(Range range) { do_numa_pass(*mm_, range); }
const Limit& AddressSpace::limit(Resource resource) const { return mm_->limits.of(resource); }
Result<void> AddressSpace::set_limit(Resource resource, Limit limit) { return mm_->limits.set(resource, limit); }
Result<void> AddressSpace::munlock(Addr start, std::uint64_t length) { return do_munlock(*mm_, start, length); }
Addr AddressSpace::brk(Addr requested) { return do_brk(*mm_, requested); }
std::unique_ptr<AddressSpace> AddressSpace::fork() {
  std::unique_ptr<Mm> child = do_fork(*mm_);
  if (child == nullptr) return nullptr;
  return std::unique_ptr<AddressSpace>(new AddressSpace(std::move(child)));
}

std::expected<std::uint8_t, Signal> AddressSpace::load(Addr addr, std::optional<Addr> text) {
  return access(*mm_, addr, AccessKind::load, Tlb::kLoad, text,
                [&](FrameId frame) { return mm_->frames().peek(frame, addr.page_offset()); });
}

std::expected<void, Signal> AddressSpace::store(Addr addr, std::uint8_t value) {
  return access(*mm_, addr, AccessKind::store, Tlb::kStore, {},
                [&](FrameId frame) { mm_->frames().poke(frame, addr.page_offset(), value); });
}

std::expected<std::uint64_t, Signal> AddressSpace::atomic_add(Addr addr, std::uint64_t addend,
                                                              std::optional<Addr> text) {
  return access(*mm_, addr, AccessKind::atomic, Tlb::kLoad | Tlb::kStore, text, [&](FrameId frame) {
    const std::uint64_t before = mm_->frames().peek_word(frame, addr.page_offset());
    mm_->frames().poke_word(frame, addr.page_offset(), before + addend);
    return before;
  });
}

std::expected<void, Signal> AddressSpace::fetch(Addr addr) {
  return access(*mm_, addr, AccessKind::fetch, Tlb::kFetch, {}, [](FrameId) {});
}

std::uint64_t AddressSpace::copy_to_user(Addr addr, std::span<const std::uint8_t> bytes) {
  return in_pages(*mm_, addr, bytes.size(), AccessKind::store, [&](FrameId frame, std::uint64_t offset, Part part) {
    mm_->frames().write(frame, offset, bytes.subspan(part.first, part.count));
  });
}

std::uint64_t AddressSpace::clear_user(Addr addr, std::uint64_t length) {
  return in_pages(*mm_, addr, length, AccessKind::store, [&](FrameId frame, std::uint64_t offset, Part part) {
    mm_->frames().clear(frame, offset, offset + part.count);
  });
}

std::uint64_t AddressSpace::copy_from_user(std::span<std::uint8_t> bytes, Addr addr) {
  return in_pages(*mm_, addr, bytes.size(), AccessKind::load, [&](FrameId frame, std::uint64_t offset, Part part) {
    mm_->frames().read(frame, offset, bytes.subspan(part.first, part.count));
  });
}

std::uint64_t AddressSpace::copy_from_user_inatomic(std::span<std::uint8_t> bytes, Addr addr) {
  const auto read = [&](FrameId frame, std::uint64_t offset, Part part) {
    mm_->frames().read(frame, offset, bytes.subspan(part.first, part.count));
  };
  return in_pages(*mm_, addr, bytes.size(), AccessKind::load, read, PageFaults::disabled);
}

std::uint8_t AddressSpace::peek(Addr addr) const {
  const Pte pte = mm_->table.get(addr);
  return pte.present() ? mm_->frames().peek(pte.frame(), addr.page_offset()) : 0;
}

std::optional<Prot> AddressSpace::protection(Addr addr) const {
  const Vma* vma = mm_->vmas.at(addr);
  return vma == nullptr ? std::nullopt : std::optional(prot_of(vma->flags));
}

std::uint64_t AddressSpace::vma_count() const { return mm_->vmas.size(); }

RangeState AddressSpace::state(Range range) const {
  RangeState found;
  mm_->vmas.each(range, [&](const Vma&) { ++found.vmas; });
  mm_->table.each({range.start.page_floor(), Addr{page_ceil(range.end.value)}}, [&](Range part, Pte pte) {
    if (pte.present()) found.present += part.pages();
    if (pte.write()) found.writable += part.pages();
    if (pte.huge()) found.huge += part.pages();
  });
  return found;
}

PageState AddressSpace::page(Addr addr) const {
  const Pte pte = mm_->table.get(addr);
  PageState state{.present = pte.present(),
                  .writable = pte.write(),
                  .dirty = pte.dirty(),
                  .zero_page = pte.zero_page(),
                  .guard = pte.guard(),
                  .huge = pte.huge()};
  state.uffd_wp = pte.uffd_wp() && profile().pagemap_uffd == PagemapUffd::shown;
  if (const Vma* vma = mm_->vmas.at(addr)) state.soft_dirty = is_soft_dirty(profile(), *vma, pte);
  if (!pte.present()) return state;
  state.exclusive = is_exclusive(mm_->frames(), pte);
  const Frame& frame = mm_->frames().at(pte.frame());
  state.cached = frame.cached();
  state.mapped_once = !pte.zero_page() && frame.mappings() == 1;
  return state;
}

void AddressSpace::for_each_vma(Range range, const std::function<void(const Vma&)>& visit) const {
  mm_->vmas.each(range, visit);
}

const Counters& AddressSpace::counters() const { return mm_->counters; }

void AddressSpace::follow_tree() {
  const Beside beside = beside_program(profile());
  const Range space = mm_->placement_space();
  if (profile().vma_index == VmaIndex::rb_tree) {
    mm_->vmas.count_work(std::make_unique<VmaLinks>(beside, space, mm_->brk_start));
  } else {
    mm_->vmas.count_work(std::make_unique<VmaStores>(profile().vma_index, beside, space, mm_->brk_start));
  }
}
TreeWork AddressSpace::tree_work() const { return mm_->vmas.work(); }
System& AddressSpace::system() { return mm_->system; }
const System& AddressSpace::system() const { return mm_->system; }
const Profile& AddressSpace::profile() const { return mm_->profile(); }
const Tunables& AddressSpace::tunables() const { return mm_->system.tunables(); }
void AddressSpace::observe(Observer* observer) { mm_->observer = observer; }
std::optional<std::string> AddressSpace::check() const { return find_violation(*mm_); }

}  // namespace faultline::mm
