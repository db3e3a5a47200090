#include "check/draw.h"

#include <fmt/format.h>

#include <array>

namespace faultline::check {
namespace {

using program::Sys;

struct Named {
  std::string_view name;
  std::uint64_t value;
};

constexpr auto kProts = std::to_array<Named>({
    {"PROT_NONE", 0},
    {"PROT_READ", 1},
    {"PROT_WRITE", 2},
    {"PROT_READ|PROT_WRITE", 3},
    {"PROT_READ|PROT_WRITE", 3},
    {"PROT_READ|PROT_WRITE", 3},
    {"PROT_EXEC", 4},
    {"PROT_EXEC", 4},
    {"PROT_READ|PROT_EXEC", 5},
    {"PROT_READ|PROT_WRITE|PROT_EXEC", 7},
});
constexpr auto kOddProts = std::to_array<Named>({
    {"0x100", 0x100},
    {"PROT_GROWSDOWN", 0x01000000},
    {"PROT_READ|PROT_GROWSUP", 0x02000001},
    {"PROT_GROWSDOWN|PROT_GROWSUP", 0x03000000},
    {"PROT_READ|PROT_SEM", 9},
});
constexpr auto kMapFlags = std::to_array<Named>({
    {"MAP_PRIVATE|MAP_ANONYMOUS|MAP_FIXED", 0x32},
    {"MAP_PRIVATE|MAP_ANONYMOUS|MAP_FIXED", 0x32},
    {"MAP_PRIVATE|MAP_ANONYMOUS|MAP_FIXED", 0x32},
    {"MAP_PRIVATE|MAP_ANONYMOUS|MAP_FIXED|MAP_NORESERVE", 0x4032},
    {"MAP_PRIVATE|MAP_ANONYMOUS|MAP_FIXED|MAP_POPULATE", 0x8032},
    {"MAP_SHARED|MAP_ANONYMOUS|MAP_FIXED", 0x31},
    {"MAP_PRIVATE|MAP_ANONYMOUS|MAP_FIXED_NOREPLACE", 0x100022},
    {"MAP_ANONYMOUS|MAP_FIXED", 0x30},
});
constexpr auto kAdvice = std::to_array<Named>({
    {"MADV_NORMAL", 0},
    {"MADV_RANDOM", 1},
    {"MADV_SEQUENTIAL", 2},
    {"MADV_DONTNEED", 4},
    {"MADV_DONTNEED", 4},
    {"MADV_FREE", 8},
    {"MADV_FREE", 8},
    {"MADV_FREE", 8},
    {"MADV_REMOVE", 9},
    {"MADV_DONTFORK", 10},
    {"MADV_DOFORK", 11},
    {"MADV_HUGEPAGE", 14},
    {"MADV_NOHUGEPAGE", 15},
    {"MADV_DONTDUMP", 16},
    {"MADV_DODUMP", 17},
    {"MADV_WIPEONFORK", 18},
    {"MADV_KEEPONFORK", 19},
    {"MADV_COLD", 20},
    {"MADV_POPULATE_READ", 22},
    {"MADV_POPULATE_WRITE", 23},
    {"MADV_DONTNEED_LOCKED", 24},
    {"MADV_COLLAPSE", 25},
    {"MADV_GUARD_INSTALL", 102},
    {"MADV_GUARD_INSTALL", 102},
    {"MADV_GUARD_REMOVE", 103},
    {"77", 77},
});

Argument argument(const Named& named) { return {named.value, std::string(named.name)}; }
Argument number(std::uint64_t value) { return {value, fmt::format("{:#x}", value)}; }

class Drawer {
 public:
  Drawer(Random& random) : random_(random) {}

  Case program(unsigned operations) {
    Case drawn;
    // Nothing happens to memory that is not there.
    drawn.push_back(call(Sys::mmap, {at(0),
                                     pages(kArenaPages / 2),
                                     argument(kProts[3]),
                                     argument(kMapFlags[0]),
                                     {~std::uint64_t{0}, "-1"},
                                     {0, "0"}}));
    while (drawn.size() < operations) drawn.push_back(operation());
    return drawn;
  }

 private:
  Operation operation() {
    const std::uint64_t kind = random_.below(100);
    if (kind < 34) return access();
    if (kind < 42) return map();
    if (kind < 46) return call(Sys::munmap, range());
    if (kind < 70) return protect();
    if (kind < 84) return with(range(), Sys::madvise, {argument(random_.pick<Named>(kAdvice))});
    if (kind < 88) return remap();
    if (kind < 90) return call(random_.one_in(2) ? Sys::mlock : Sys::munlock, range());
    if (kind < 92) return with(range(), Sys::mseal, {random_.one_in(8) ? number(0x20) : Argument{0, "0"}});
    return family();
  }

  Operation access() {
    constexpr auto kKinds = std::to_array({AccessKind::load, AccessKind::store, AccessKind::store, AccessKind::atomic});
    Operation drawn;
    drawn.kind = OperationKind::access;
    drawn.access = random_.pick<AccessKind>(kKinds);
    drawn.arguments = {at(page())};
    return drawn;
  }

  /// Mostly one that the last call was about.
  std::uint64_t page() {
    if (last_.empty() || random_.one_in(4)) return random_.below(kArenaPages);
    const std::uint64_t first = (last_[0].value - kArena.start.value) / kPageSize;
    const std::uint64_t count = std::clamp<std::uint64_t>(last_[1].value / kPageSize, 1, kArenaPages - first);
    return first + random_.below(count);
  }

  Operation map() {
    return with(range(), Sys::mmap,
                {argument(random_.pick<Named>(kProts)),
                 argument(random_.pick<Named>(kMapFlags)),
                 {~std::uint64_t{0}, "-1"},
                 {0, "0"}});
  }

  Operation protect() {
    const Named& prot = random_.one_in(16) ? random_.pick<Named>(kOddProts) : random_.pick<Named>(kProts);
    return with(range(), Sys::mprotect, {argument(prot)});
  }

  /// In place, or to a place in the arena: where else it may go is the kernel's choice, and no two make the same.
  Operation remap() {
    auto drawn = range();
    const std::uint64_t more = random_.one_in(2) ? drawn[1].value / kPageSize : random_.below(4);
    drawn.push_back(pages(std::min(more, kArenaPages)));
    const std::uint64_t how = random_.below(4);
    if (how == 0) {
      drawn.push_back({0, "0"});
      return call(Sys::mremap, std::move(drawn));
    }
    drawn.push_back(how == 3 ? Argument{7, "MREMAP_MAYMOVE|MREMAP_FIXED|MREMAP_DONTUNMAP"}
                             : Argument{3, "MREMAP_MAYMOVE|MREMAP_FIXED"});
    // What is moved has to end in the arena.
    const std::uint64_t longest = std::max<std::uint64_t>(drawn[2].value / kPageSize, 1);
    drawn.push_back(at(random_.below(kArenaPages - std::min(longest, kArenaPages - 1))));
    return call(Sys::mremap, std::move(drawn));
  }

  Operation family() {
    if (!living_.empty() && random_.one_in(2)) {
      Operation drawn;
      drawn.kind = OperationKind::exit;
      const std::size_t which = random_.below(living_.size());
      drawn.child = living_[which];
      living_.erase(living_.begin() + static_cast<std::ptrdiff_t>(which));
      return drawn;
    }
    Operation drawn;
    drawn.kind = OperationKind::fork;
    if (living_.size() < 3 && !random_.one_in(3)) {
      drawn.child = fmt::format("c{}", ++children_);
      living_.push_back(drawn.child);
    }
    for (std::uint64_t i = random_.below(3); i > 0; --i) drawn.body.push_back(access());
    return drawn;
  }

  static Operation call(Sys sys, std::vector<Argument> arguments) {
    Operation drawn;
    drawn.kind = OperationKind::call;
    drawn.sys = sys;
    drawn.arguments = std::move(arguments);
    return drawn;
  }
  static Operation with(std::vector<Argument> range, Sys sys, std::initializer_list<Argument> more) {
    range.insert(range.end(), more);
    return call(sys, std::move(range));
  }

  /// An address and a length: mostly whole pages of the arena.
  std::vector<Argument> range() {
    // What follows on the same range tells the most.
    if (last_.empty() || !random_.one_in(3)) last_ = fresh_range();
    return last_;
  }

  std::vector<Argument> fresh_range() {
    const std::uint64_t first = random_.below(kArenaPages);
    const std::uint64_t longest = kArenaPages - first;
    const std::uint64_t count = 1 + random_.below(random_.one_in(3) ? longest : std::min<std::uint64_t>(longest, 3));
    std::vector<Argument> drawn{at(first), pages(count)};
    switch (random_.below(40)) {
      case 0:
        drawn[0] = number(drawn[0].value + 1);
        break;
      case 1:
        drawn[1] = {0, "0"};
        break;
      case 2:
        drawn[1] = number(drawn[1].value - 1);
        break;
      case 3:
        drawn[1] = number(~std::uint64_t{0});
        break;
      default:
        break;
    }
    return drawn;
  }

  static Argument at(std::uint64_t page) { return number(kArena.start.value + page * kPageSize); }
  static Argument pages(std::uint64_t count) {
    return {count * kPageSize, count == 1 ? "PAGE" : fmt::format("{} * PAGE", count)};
  }

  Random& random_;
  std::vector<Argument> last_;
  std::vector<std::string> living_;
  unsigned children_ = 0;
};

}  // namespace

Case draw(Random& random, unsigned operations) { return Drawer(random).program(operations); }

}  // namespace faultline::check
