// Random operations on a few cells of memory, every profile: the invariants hold after each, and a reference that knows
// only cells agrees on results, protection, contents and seals. A cell is a page, or what lies between two bounds that
// cut huge pages where it hurts.
#include <rapidcheck.h>

#include <algorithm>
#include <array>

#include "show_prot.h"
#include "world.h"

namespace faultline::mm {
namespace {

constexpr std::uint64_t kCells = 12;

/// Where the cells begin, in pages, and where the last one ends.
using Layout = std::array<std::uint64_t, kCells + 1>;
constexpr Layout kPageCells = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
constexpr Layout kHugeCells = {0, 1, 2, 511, 512, 513, 1023, 1024, 1536, 1537, 2047, 2048, 2049};

enum class Kind : std::uint8_t {
  map,
  unmap,
  protect,
  seal,
  store,
  load,
  dontneed,
  free,
  guard,
  unguard,
  hugepage,
  nohugepage,
  collapse,
  clear_refs,
  watch,
  write_protect,
  unwatch,
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

/// A cell as a program could describe it; `value` is the first byte of its first page.
struct Cell {
  bool mapped = false;
  Prot prot = Prot::none;
  bool sealed = false;
  bool guarded = false;
  std::uint8_t value = 0;
};

class Reference {
 public:
  explicit Reference(Profile profile) : profile_(std::move(profile)) {}

  /// Applies the operation and says what it must return.
  std::string apply(const Operation& op) {
    const std::uint64_t last = op.first + op.count;
    switch (op.kind) {
      case Kind::map:
        if (any_sealed(op)) return "EPERM";
        for (auto i = op.first; i < last; ++i) cells[i] = Cell{.mapped = true, .prot = op.prot};
        return "ok";
      case Kind::unmap:
        if (any_sealed(op)) return "EPERM";
        for (auto i = op.first; i < last; ++i) cells[i] = Cell{};
        return "ok";
      case Kind::protect:
        return protect(op);
      case Kind::seal:
        if (profile_.seal == Seal::absent) return "ENOSYS";
        for (auto i = op.first; i < last; ++i) {
          if (!cells[i].mapped) return "ENOMEM";
        }
        for (auto i = op.first; i < last; ++i) cells[i].sealed = true;
        return "ok";
      case Kind::store:
        return access(op, Prot::write);
      case Kind::load:
        return access(op, Prot::read | Prot::write | Prot::exec);
      default:
        return advise(op);
    }
  }

  std::array<Cell, kCells> cells{};

 private:
  bool any_sealed(const Operation& op) const {
    return std::any_of(&cells[op.first], &cells[op.first] + op.count, [](const Cell& p) { return p.sealed; });
  }

  std::string protect(const Operation& op) {
    if (!cells[op.first].mapped) return "ENOMEM";
    if (profile_.seal == Seal::upfront && any_sealed(op)) return "EPERM";
    for (auto i = op.first; i < op.first + op.count; ++i) {
      if (!cells[i].mapped) return "ENOMEM";
      if (cells[i].sealed) return "EPERM";
      cells[i].prot = op.prot;
    }
    return "ok";
  }

  std::string access(const Operation& op, Prot need) {
    Cell& cell = cells[op.first];
    if (!cell.mapped) return "SEGV_MAPERR";
    // The kernel's own key denies data of what can be executed only (D.14).
    if (profile_.pkeys == Pkeys::present && cell.prot == Prot::exec) return "SEGV_PKUERR";
    if (!has(cell.prot, need)) return "SEGV_ACCERR";
    if (cell.guarded) return "SEGV_MAPERR";
    if (op.kind == Kind::store) cell.value = op.value;
    return "ok";
  }

  std::string advise(const Operation& op) {
    if ((op.kind == Kind::guard || op.kind == Kind::unguard) && profile_.guards == Guards::absent) return "EINVAL";
    const bool discards = op.kind != Kind::unguard && op.kind != Kind::hugepage && op.kind != Kind::nohugepage;
    const auto refused = [&](const Cell& p) { return p.sealed && discards && !has(p.prot, Prot::write); };
    if (profile_.seal == Seal::upfront) {
      for (auto i = op.first; i < op.first + op.count; ++i) {
        if (refused(cells[i])) return "EPERM";
      }
    }
    bool hole = false;
    for (auto i = op.first; i < op.first + op.count; ++i) {
      Cell& cell = cells[i];
      if (!cell.mapped) {
        hole = true;
        continue;
      }
      if (refused(cell)) return "EPERM";
      if (op.kind == Kind::dontneed || op.kind == Kind::guard) cell.value = 0;
      if (op.kind == Kind::guard) cell.guarded = true;
      if (op.kind == Kind::unguard) cell.guarded = false;
    }
    return hole ? "ENOMEM" : "ok";
  }

  Profile profile_;
};

template <class T>
std::string signal_outcome(const std::expected<T, Signal>& result) {
  return result ? "ok" : std::string(signal_code_name(result.error().number, result.error().code));
}

std::string perform(AddressSpace& space, Addr base, const Layout& layout, const Operation& op) {
  const Addr at = base + layout[op.first] * P;
  const std::uint64_t bytes = (layout[op.first + op.count] - layout[op.first]) * P;
  switch (op.kind) {
    case Kind::map:
      return outcome(space.mmap(at, bytes, op.prot, MapFlags::private_ | MapFlags::anonymous | MapFlags::fixed));
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
    case Kind::hugepage:
      return outcome(space.madvise(at, bytes, Advice::hugepage));
    case Kind::nohugepage:
      return outcome(space.madvise(at, bytes, Advice::nohugepage));
    case Kind::collapse:
      return outcome(space.madvise(at, bytes, Advice::collapse));
    default:
      return outcome(space.madvise(at, bytes, Advice::guard_remove));
  }
}

/// A userfaultfd whose faults the machine's handler answers, or the kernel itself: no access, content or permission is
/// other than without it. What the requests return is not looked at.
class Watcher {
 public:
  void perform(AddressSpace& space, Addr at, std::uint64_t bytes, const Operation& op) {
    if (op.kind == Kind::unwatch && op.value == 1) uffd_.reset();
    if (!uffd_) open(space, op.value);
    switch (op.kind) {
      case Kind::watch:
        static_cast<void>(uffd_->watch(at, bytes, UffdModes{op.value % 4U}));
        break;
      case Kind::write_protect:
        static_cast<void>(uffd_->write_protect(at, bytes, op.value == 4 ? UffdProtect::none : UffdProtect::wp));
        break;
      default:
        static_cast<void>(uffd_->unwatch(at, bytes));
        break;
    }
  }

 private:
  void open(AddressSpace& space, std::uint8_t choice) {
    const bool everybody = space.profile().uffd_access == UffdAccess::everybody;
    uffd_ = *space.userfaultfd(everybody ? UffdFlags::none : UffdFlags::user_mode_only);
    const UffdFeatures wanted = choice % 3 == 0   ? UffdFeatures::wp_async
                                : choice % 3 == 1 ? UffdFeatures::wp_unpopulated
                                                  : UffdFeatures::none;
    static_cast<void>(uffd_->enable(0xaa, wanted & space.profile().uffd_features));
  }
  std::shared_ptr<Userfaultfd> uffd_;
};

bool watches(Kind kind) { return kind == Kind::watch || kind == Kind::write_protect || kind == Kind::unwatch; }

Operation draw() {
  Operation op;
  op.kind = static_cast<Kind>(*rc::gen::inRange(0, static_cast<int>(Kind::end_)));
  op.first = *rc::gen::inRange<std::uint64_t>(0, kCells);
  op.count = *rc::gen::inRange<std::uint64_t>(1, kCells - op.first + 1);
  op.prot = *rc::gen::element(kNone, kR, kRW, kRWX, Prot::exec);
  op.value = *rc::gen::inRange<std::uint8_t>(1, 5);
  // Seals never go away; drawn as often as the rest they would soon cover everything.
  if (op.kind == Kind::seal && *rc::gen::inRange(0, 4) != 0) op.kind = Kind::store;
  return op;
}

void run_program(const char* name, const Layout& layout, int steps) {
  const Profile profile = *parse_profile(name);
  System system(profile);
  std::vector<std::unique_ptr<AddressSpace>> family;
  family.push_back(std::make_unique<AddressSpace>(system));
  std::vector<Reference> references{Reference(profile)};
  std::vector<Watcher> watchers(1);
  const Addr base{0x20000000};
  for (int step = 0; step < steps; ++step) {
    const auto who = *rc::gen::inRange<std::size_t>(0, family.size());
    const Operation op = draw();
    if (op.kind == Kind::fork) {
      if (family.size() < 4) {
        family.push_back(family[who]->fork());
        references.push_back(references[who]);
        watchers.emplace_back();
      } else {
        family.erase(family.begin() + 1);
        references.erase(references.begin() + 1);
        watchers.erase(watchers.begin() + 1);
      }
    } else if (op.kind == Kind::clear_refs) {
      RC_ASSERT(outcome(family[who]->clear_refs(4)) == "ok");
    } else if (watches(op.kind)) {
      const Addr at = base + layout[op.first] * P;
      watchers[who].perform(*family[who], at, (layout[op.first + op.count] - layout[op.first]) * P, op);
    } else {
      const std::string got = perform(*family[who], base, layout, op);
      // Whether there is something to collapse depends on more than a cell shows; contents never change.
      if (op.kind != Kind::collapse) RC_ASSERT(got == references[who].apply(op));
    }
    for (std::size_t i = 0; i < family.size(); ++i) {
      const auto wrong = family[i]->check();
      if (wrong) RC_FAIL(*wrong);
      for (std::uint64_t cell = 0; cell < kCells; ++cell) {
        const Cell& expected = references[i].cells[cell];
        const Addr at = base + layout[cell] * P;
        RC_ASSERT(family[i]->protection(at) == (expected.mapped ? std::optional(expected.prot) : std::nullopt));
        RC_ASSERT(family[i]->peek(at) == expected.value);
      }
    }
  }
  family.clear();
  RC_ASSERT(system.frames().live() == 0u);
}

TEST(Properties, HoldForRandomProgramsOnEveryProfile) {
  for (const char* name :
       {"5.10", "5.10+upgrade=page-count", "6.1", "6.8", "6.8+seal=upfront", "6.12", "6.18", "6.18+zero-page=forbidden",
        "6.18+zero-page=not-on-reads", "7.3", "arm64/5.10", "arm64/6.8+rmw=write-first", "arm64/7.3"}) {
    EXPECT_TRUE(rc::check(name, [name] { run_program(name, kPageCells, 60); }));
  }
}

TEST(Properties, HoldWhereHugePagesAreCutAnywhere) {
  for (const char* name : {"5.10+thp=always", "5.10+upgrade=page-count+thp=always", "6.1", "6.12+thp=always",
                           "6.18+thp=always+zero-page=forbidden", "arm64/7.3+thp=always"}) {
    EXPECT_TRUE(rc::check(name, [name] { run_program(name, kHugeCells, 30); }));
  }
}

}  // namespace
}  // namespace faultline::mm
