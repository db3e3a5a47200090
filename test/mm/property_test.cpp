// Random operations on a few pages, every profile: the invariants hold after each, and a reference that knows only
// pages agrees on results, protection, contents and seals.
#include <rapidcheck.h>

#include <algorithm>
#include <array>
#include <ostream>

#include "world.h"

// RapidCheck prints a counterexample's assertion by its operands.
namespace rc::detail {
template <>
struct ShowDefault<std::optional<faultline::Prot>, false> {
  static void show(const std::optional<faultline::Prot>& prot, std::ostream& os) {
    os << (prot ? std::to_string(static_cast<unsigned>(*prot)) : "unmapped");
  }
};
}  // namespace rc::detail

namespace faultline::mm {
namespace {

constexpr std::uint64_t kPages = 12;

enum class Kind : std::uint8_t { map, unmap, protect, seal, store, load, dontneed, free, guard, unguard, fork, end_ };

struct Operation {
  Kind kind{};
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  Prot prot = Prot::none;
  std::uint8_t value = 0;
};

/// A page as a program could describe it.
struct Page {
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
        for (auto i = op.first; i < last; ++i) pages[i] = Page{.mapped = true, .prot = op.prot};
        return "ok";
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
        return access(op, Prot::write);
      case Kind::load:
        return access(op, Prot::read | Prot::write | Prot::exec);
      default:
        return advise(op);
    }
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

  std::string access(const Operation& op, Prot need) {
    Page& page = pages[op.first];
    if (!page.mapped) return "SEGV_MAPERR";
    if (!has(page.prot, need)) return "SEGV_ACCERR";
    if (page.guarded) return "SEGV_MAPERR";
    if (op.kind == Kind::store) page.value = op.value;
    return "ok";
  }

  std::string advise(const Operation& op) {
    if ((op.kind == Kind::guard || op.kind == Kind::unguard) && profile_.guards == Guards::absent) return "EINVAL";
    const bool discards = op.kind != Kind::unguard;
    const auto refused = [&](const Page& p) { return p.sealed && discards && !has(p.prot, Prot::write); };
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
      if (op.kind == Kind::dontneed || op.kind == Kind::guard) page.value = 0;
      if (op.kind == Kind::guard) page.guarded = true;
      if (op.kind == Kind::unguard) page.guarded = false;
    }
    return hole ? "ENOMEM" : "ok";
  }

  Profile profile_;
};

template <class T>
std::string signal_outcome(const std::expected<T, Signal>& result) {
  return result ? "ok" : std::string(signal_code_name(result.error().number, result.error().code));
}

std::string perform(AddressSpace& space, Addr base, const Operation& op) {
  const Addr at = base + op.first * P;
  const std::uint64_t bytes = op.count * P;
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
  std::vector<Reference> references{Reference(profile)};
  const Addr base{0x20000000};
  for (int step = 0; step < 60; ++step) {
    const auto who = *rc::gen::inRange<std::size_t>(0, family.size());
    const Operation op = draw();
    if (op.kind == Kind::fork) {
      if (family.size() < 4) {
        family.push_back(family[who]->fork());
        references.push_back(references[who]);
      } else {
        family.erase(family.begin() + 1);
        references.erase(references.begin() + 1);
      }
    } else {
      const std::string got = perform(*family[who], base, op);
      RC_ASSERT(got == references[who].apply(op));
    }
    for (std::size_t i = 0; i < family.size(); ++i) {
      const auto wrong = family[i]->check();
      if (wrong) RC_FAIL(*wrong);
      for (std::uint64_t page = 0; page < kPages; ++page) {
        const Page& expected = references[i].pages[page];
        const Addr at = base + page * P;
        RC_ASSERT(family[i]->protection(at) == (expected.mapped ? std::optional(expected.prot) : std::nullopt));
        RC_ASSERT(family[i]->peek(at) == expected.value);
      }
    }
  }
  family.clear();
  RC_ASSERT(system.frames().live() == 0u);
}

TEST(Properties, HoldForRandomProgramsOnEveryProfile) {
  for (const char* name : {"5.10", "5.10+upgrade=page-count", "6.1", "6.8", "6.8+seal=upfront", "6.12", "6.18",
                           "6.18+zero-page=forbidden", "7.3", "arm64/5.10", "arm64/6.8+rmw=write-first", "arm64/7.3"}) {
    EXPECT_TRUE(rc::check(name, [name] { run_program(name); }));
  }
}

}  // namespace
}  // namespace faultline::mm
