// Random operations on a few pages, with shared memory and a memfd that a family of processes shares, every profile:
// the invariants hold after each, and a reference that knows only pages agrees on results, protection, contents and
// seals.
#include <rapidcheck.h>

#include <algorithm>
#include <array>
#include <memory>

#include "mm/file_io.h"
#include "show_prot.h"
#include "world.h"

namespace faultline::mm {
namespace {

constexpr std::uint64_t kPages = 12;

enum class Kind : std::uint8_t {
  map,
  map_shared,        // shared anonymous memory
  map_file,          // the memfd, shared
  map_file_private,  // the memfd, private
  unmap,
  protect,
  seal,
  store,
  load,
  dontneed,
  free,
  remove,
  guard,
  unguard,
  lock,
  unlock,
  truncate,    // the memfd, to `count` pages
  write_file,  // one byte of the process's page to the memfd's page of that number
  read_file,   // the other way
  fork,
  end_
};

struct Operation {
  Kind kind{};
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  Prot prot = Prot::none;
  std::uint8_t value = 0;
};

/// A memfd or the object of a shared anonymous mapping, a byte for each page.
struct Object {
  std::uint64_t pages = 0;
  std::array<std::uint8_t, 2 * kPages> bytes{};
};

/// A page as a program could describe it.
struct Page {
  bool mapped = false;
  Prot prot = Prot::none;
  bool sealed = false;
  bool guarded = false;
  bool locked = false;
  std::uint8_t value = 0;            // of private memory, if it is a copy of its own or has no object
  std::shared_ptr<Object> object{};  // what is mapped, if anything
  std::uint64_t index = 0;           // which page of it
  bool shared = false;
  bool copied = false;

  bool of_object() const { return object != nullptr && !copied; }
  bool beyond_end() const { return of_object() && index >= object->pages; }
  std::uint8_t byte() const { return of_object() ? (beyond_end() ? 0 : object->bytes[index]) : value; }
};

class Reference {
 public:
  Reference(Profile profile, std::shared_ptr<Object> file) : profile_(std::move(profile)), file_(std::move(file)) {}

  /// The memory of a forked child: locks are not inherited.
  Reference forked() const {
    Reference child = *this;
    for (Page& page : child.pages) page.locked = false;
    return child;
  }
  /// The memfd ends there now: the copies of what is beyond are gone too.
  void truncated() {
    for (Page& page : pages) {
      if (page.object == file_ && page.index >= file_->pages) page.copied = false;
    }
  }

  /// Applies the operation and says what it must return.
  std::string apply(const Operation& op) {
    const std::uint64_t last = op.first + op.count;
    switch (op.kind) {
      case Kind::map:
      case Kind::map_shared:
      case Kind::map_file:
      case Kind::map_file_private:
        return map(op);
      case Kind::unmap:
        if (any_sealed(op)) return "EPERM";
        for (auto i = op.first; i < last; ++i) pages[i] = Page{};
        return "ok";
      case Kind::protect:
        return protect(op);
      case Kind::seal:
        if (profile_.seal == Seal::absent) return "ENOSYS";
        for (auto i = op.first; i < last; ++i) {
          if (!pages[i].mapped) return "ENOMEM";
        }
        for (auto i = op.first; i < last; ++i) pages[i].sealed = true;
        return "ok";
      case Kind::store:
        return access(pages[op.first], op.value);
      case Kind::load:
        return access(pages[op.first], std::nullopt);
      case Kind::lock:
      case Kind::unlock:
        return lock(op);
      case Kind::write_file: {
        // Reaches to where the write begins before the buffer is looked at, which may be a page of the same file.
        if (profile_.write_prefault == WritePrefault::on_failure) file_->pages = std::max(file_->pages, op.count);
        if (access(pages[op.first], std::nullopt) != "ok") return "EFAULT";
        file_->bytes[op.count] = pages[op.first].byte();
        file_->pages = std::max(file_->pages, op.count + 1);
        return "ok";
      }
      case Kind::read_file:
        if (op.count >= file_->pages) return "ok";
        return access(pages[op.first], file_->bytes[op.count]) == "ok" ? "ok" : "EFAULT";
      default:
        return advise(op);
    }
  }

  bool any_locked(const Operation& op) const {
    return std::any_of(&pages[op.first], &pages[op.first] + op.count, [](const Page& p) { return p.locked; });
  }

  std::array<Page, kPages> pages{};

 private:
  bool any_sealed(const Operation& op) const {
    return std::any_of(&pages[op.first], &pages[op.first] + op.count, [](const Page& p) { return p.sealed; });
  }

  std::string protect(const Operation& op) {
    if (!pages[op.first].mapped) return "ENOMEM";
    if (profile_.seal == Seal::upfront && any_sealed(op)) return "EPERM";
    for (auto i = op.first; i < op.first + op.count; ++i) {
      if (!pages[i].mapped) return "ENOMEM";
      if (pages[i].sealed) return "EPERM";
      pages[i].prot = op.prot;
    }
    return "ok";
  }

  std::string map(const Operation& op) {
    if (any_sealed(op)) return "EPERM";
    Page page{.mapped = true, .prot = op.prot};
    page.shared = op.kind == Kind::map_shared || op.kind == Kind::map_file;
    if (op.kind == Kind::map_shared) page.object = std::make_shared<Object>(Object{.pages = op.count});
    if (op.kind == Kind::map_file || op.kind == Kind::map_file_private) {
      page.object = file_;
      page.index = op.value;
    }
    for (auto i = op.first; i < op.first + op.count; ++i, ++page.index) pages[i] = page;
    return "ok";
  }

  /// A load, or a store of that byte.
  std::string access(Page& page, std::optional<std::uint8_t> stored) {
    if (!page.mapped) return "SEGV_MAPERR";
    // The kernel's own key denies data of what can be executed only (D.14).
    if (profile_.pkeys == Pkeys::present && page.prot == Prot::exec) return "SEGV_PKUERR";
    if (!has(page.prot, stored ? Prot::write : Prot::read | Prot::write | Prot::exec)) return "SEGV_ACCERR";
    if (page.guarded) return "SEGV_MAPERR";
    if (page.beyond_end()) return "BUS_ADRERR";
    if (!stored) return "ok";
    if (page.shared) {
      page.object->bytes[page.index] = *stored;
    } else {
      page.value = *stored;
      page.copied = page.object != nullptr;
    }
    return "ok";
  }

  /// Locking writes to private memory that may be written, and so copies; it stops at the first page that is not to be
  /// had.
  std::string lock(const Operation& op) {
    for (auto i = op.first; i < op.first + op.count; ++i) {
      if (!pages[i].mapped) return "ENOMEM";
      pages[i].locked = op.kind == Kind::lock;
    }
    if (op.kind == Kind::unlock) return "ok";
    for (auto i = op.first; i < op.first + op.count; ++i) {
      Page& page = pages[i];
      const bool copies = has(page.prot, Prot::write) && !page.shared;
      const auto byte = page.byte();
      if (access(page, copies ? std::optional(byte) : std::nullopt) != "ok") return "ENOMEM";
    }
    return "ok";
  }

  /// What one page's advice does, or why it is refused.
  std::string advise_page(Page& page, Kind kind) {
    const bool drops = kind == Kind::dontneed || kind == Kind::guard;
    if (page.locked && (drops || kind == Kind::free || kind == Kind::remove)) return "EINVAL";
    if (kind == Kind::free && page.object != nullptr) return "EINVAL";
    if (kind == Kind::remove) {
      if (page.object == nullptr) return "EINVAL";
      const bool writable_now = profile_.sealed_file == SealedFile::refuses_shared;
      if (!page.shared || (writable_now && !has(page.prot, Prot::write))) return "EACCES";
      page.object->bytes[page.index] = 0;
    }
    if (drops) {
      page.value = 0;
      page.copied = false;
    }
    if (kind == Kind::guard) page.guarded = true;
    if (kind == Kind::unguard) page.guarded = false;
    return "ok";
  }

  std::string advise(const Operation& op) {
    if ((op.kind == Kind::guard || op.kind == Kind::unguard) && profile_.guards == Guards::absent) return "EINVAL";
    const bool discards = op.kind != Kind::unguard;
    const auto refused = [&](const Page& p) {
      return p.sealed && discards && !has(p.prot, Prot::write) && p.object == nullptr;
    };
    if (profile_.seal == Seal::upfront) {
      for (auto i = op.first; i < op.first + op.count; ++i) {
        if (refused(pages[i])) return "EPERM";
      }
    }
    bool hole = false;
    for (auto i = op.first; i < op.first + op.count; ++i) {
      Page& page = pages[i];
      if (!page.mapped) {
        hole = true;
        continue;
      }
      if (refused(page)) return "EPERM";
      if (const std::string done = advise_page(page, op.kind); done != "ok") return done;
    }
    return hole ? "ENOMEM" : "ok";
  }

  Profile profile_;
  std::shared_ptr<Object> file_;
};

template <class T>
std::string signal_outcome(const std::expected<T, Signal>& result) {
  return result ? "ok" : std::string(signal_code_name(result.error().number, result.error().code));
}

std::string perform(AddressSpace& space, Addr base, const Operation& op, const File& file) {
  const Addr at = base + op.first * P;
  const std::uint64_t bytes = op.count * P;
  switch (op.kind) {
    case Kind::map:
      return outcome(space.mmap(at, bytes, op.prot, MapFlags::private_ | MapFlags::anonymous | MapFlags::fixed));
    case Kind::map_shared:
      return outcome(space.mmap(at, bytes, op.prot, MapFlags::shared | MapFlags::anonymous | MapFlags::fixed));
    case Kind::map_file:
      return outcome(space.mmap(at, bytes, op.prot, MapFlags::shared | MapFlags::fixed, &file, op.value * P));
    case Kind::map_file_private:
      return outcome(space.mmap(at, bytes, op.prot, MapFlags::private_ | MapFlags::fixed, &file, op.value * P));
    case Kind::remove:
      return outcome(space.madvise(at, bytes, Advice::remove));
    case Kind::lock:
      return outcome(space.mlock(at, bytes));
    case Kind::unlock:
      return outcome(space.munlock(at, bytes));
    case Kind::truncate:
      return outcome(space.ftruncate(file, bytes));
    case Kind::write_file:
      return outcome(write_file(space, file, bytes, at, 1));
    case Kind::read_file:
      return outcome(read_file(space, file, bytes, at, 1));
    case Kind::unmap:
      return outcome(space.munmap(at, bytes));
    case Kind::protect:
      return outcome(space.mprotect(at, bytes, op.prot));
    case Kind::seal:
      return outcome(space.mseal(at, bytes, 0));
    case Kind::store:
      return signal_outcome(space.store(at, op.value));
    case Kind::load:
      return signal_outcome(space.load(at));
    case Kind::dontneed:
      return outcome(space.madvise(at, bytes, Advice::dontneed));
    case Kind::free:
      return outcome(space.madvise(at, bytes, Advice::free));
    case Kind::guard:
      return outcome(space.madvise(at, bytes, Advice::guard_install));
    default:
      return outcome(space.madvise(at, bytes, Advice::guard_remove));
  }
}

Operation draw() {
  Operation op;
  op.kind = static_cast<Kind>(*rc::gen::inRange(0, static_cast<int>(Kind::end_)));
  op.first = *rc::gen::inRange<std::uint64_t>(0, kPages);
  op.count = *rc::gen::inRange<std::uint64_t>(1, kPages - op.first + 1);
  op.prot = *rc::gen::element(kNone, kR, kRW, kRWX, Prot::exec);
  op.value = *rc::gen::inRange<std::uint8_t>(1, 5);
  // Seals never go away; drawn as often as the rest they would soon cover everything.
  if (op.kind == Kind::seal && *rc::gen::inRange(0, 4) != 0) op.kind = Kind::store;
  return op;
}

void run_program(const char* name) {
  const Profile profile = *parse_profile(name);
  System system(profile);
  std::vector<std::unique_ptr<AddressSpace>> family;
  family.push_back(std::make_unique<AddressSpace>(system));
  std::optional<File> file = *memfd_create(system, MemfdFlags::none);
  const auto object = std::make_shared<Object>();
  std::vector<Reference> references{Reference(profile, object)};
  const Addr base{0x20000000};
  for (int step = 0; step < 60; ++step) {
    const auto who = *rc::gen::inRange<std::size_t>(0, family.size());
    Operation op = draw();
    // Locked memory that becomes writable is populated mapping by mapping, and this reference knows only pages.
    if (op.kind == Kind::protect) op.kind = references[who].any_locked(op) ? Kind::unlock : Kind::protect;
    if (op.kind == Kind::fork) {
      if (family.size() < 4) {
        family.push_back(family[who]->fork());
        references.push_back(references[who].forked());
      } else {
        family.erase(family.begin() + 1);
        references.erase(references.begin() + 1);
      }
    } else if (op.kind == Kind::truncate) {
      RC_ASSERT(perform(*family[who], base, op, *file) == "ok");
      object->pages = op.count;
      for (std::uint64_t i = op.count; i < object->bytes.size(); ++i) object->bytes[i] = 0;
      for (Reference& reference : references) reference.truncated();
    } else {
      const std::string got = perform(*family[who], base, op, *file);
      RC_ASSERT(got == references[who].apply(op));
    }
    for (std::size_t i = 0; i < family.size(); ++i) {
      const auto wrong = family[i]->check();
      if (wrong) RC_FAIL(*wrong);
      for (std::uint64_t page = 0; page < kPages; ++page) {
        const Page& expected = references[i].pages[page];
        const Addr at = base + page * P;
        RC_ASSERT(family[i]->protection(at) == (expected.mapped ? std::optional(expected.prot) : std::nullopt));
        // Which pages of an object are mapped is not the program's to say: those around a fault are, too.
        const bool known = !expected.of_object() || family[i]->page(at).present;
        RC_ASSERT(family[i]->peek(at) == (known ? expected.byte() : 0));
      }
    }
  }
  family.clear();
  file.reset();
  RC_ASSERT(system.frames().live() == 0u);
  RC_ASSERT(system.commit().charged() == 0);
}

TEST(Properties, HoldForRandomProgramsOnSharedMemoryOnEveryProfile) {
  for (const char* name : {"5.10", "5.10+upgrade=page-count", "6.1", "6.8", "6.8+seal=upfront", "6.12", "6.18",
                           "6.18+zero-page=forbidden", "7.3", "arm64/5.10", "arm64/6.8+rmw=write-first", "arm64/7.3"}) {
    EXPECT_TRUE(rc::check(name, [name] { run_program(name); }));
  }
}

}  // namespace
}  // namespace faultline::mm
