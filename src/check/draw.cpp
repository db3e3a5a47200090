#include "check/draw.h"

#include <algorithm>
#include <array>
#include <initializer_list>

#include "check/vocabulary.h"
#include "program/ioctl.h"

namespace faultline::check {
namespace {

using program::Sys;
using run::StepKind;

struct Argument {
  std::uint64_t value = 0;
  std::string_view name{};
};
constexpr Argument kNoDescriptor{~std::uint64_t{0}, "-1"};
/// A process's first descriptor.
constexpr std::uint64_t kFirstFile = 3;

/// Beyond every arena.
constexpr Addr kBeside{0x280000000};
constexpr Addr kFillStart{0x300000000};
/// Tens of thousands of mappings take as long as hundreds of other programs.
constexpr std::uint64_t kLimitsPerFill = 400;

/// What a program is mostly about: rare states are reached where the same things happen again and again.
enum class Theme : std::uint8_t { anonymous, watched, files, limits, huge };

class Drawer {
 public:
  Drawer(Random& random, Atomics atomics) : random_(random), atomics_(atomics) {
    const std::uint64_t kind = random_.below(100);
    theme_ = kind < 54   ? Theme::anonymous
             : kind < 62 ? Theme::watched
             : kind < 85 ? Theme::files
             : kind < 98 ? Theme::limits
                         : Theme::huge;
    executes_ = random_.one_in(3);
    fills_ = theme_ == Theme::limits && random_.one_in(kLimitsPerFill);
    lowers_memlock_ = theme_ == Theme::limits && random_.one_in(3);
    keyed_ = random_.one_in(4);
    pages_ = theme_ == Theme::huge ? kHugeArenaPages : kArenaPages;
  }

  Drawn program(unsigned operations) {
    drawn_.watched = Range::of(kArenaStart, pages_ * kPageSize);
    // Nothing happens to memory that is not there.
    call(Sys::mmap, {{at(0).value},
                     {pages_ / 2 * kPageSize},
                     named(protections()[3]),
                     named(anonymous_flags()[0]),
                     kNoDescriptor,
                     {0}});
    if (theme_ == Theme::files) make_file();
    if (theme_ == Theme::watched) make_watcher();
    // Limits concern all that a process has: something beside the arena, as every machine has.
    if (theme_ == Theme::limits) {
      call(
          Sys::mmap,
          {{kBeside.value}, {2 * kPageSize}, named(protections()[3]), named(anonymous_flags()[0]), kNoDescriptor, {0}});
      drawn_.needed = drawn_.operations.size();
    }
    if (fills_) fill();
    if (keyed_ && random_.one_in(8)) take_keys();
    if (theme_ == Theme::huge) call(Sys::madvise, {{at(0).value}, {pages_ * kPageSize}, named(huge_advice()[0])});
    // A program that is shorter than its beginning ends there.
    if (drawn_.operations.size() > operations) drawn_.operations.resize(operations);
    drawn_.needed = std::min(drawn_.needed, drawn_.operations.size());
    while (drawn_.operations.size() < operations) operation(operations, 0);
    return std::move(drawn_);
  }

 private:
  void operation(std::size_t most, unsigned depth) {
    const std::uint64_t kind = random_.below(100);
    if (theme_ == Theme::files && kind < 30) return file_call(most);
    if (theme_ == Theme::watched && kind < 30) return watcher_call();
    if (theme_ == Theme::limits && kind < 22) return limit(most);
    if (kind < 36) return access();
    if (kind < 45) return map();
    if (kind < 49) return call(Sys::munmap, range());
    if (kind < 67) return protect();
    if (kind < 81) return advise();
    if (kind < 87) return remap();
    if (kind < 91) return lock();
    if (kind < 93) return with(range(), Sys::mseal, {random_.one_in(8) ? Argument{0x20} : Argument{0}});
    if (kind < 95) return look();
    if (most - drawn_.operations.size() > 1) return family(most, depth);
    return access();
  }

  void access() {
    constexpr auto kKinds = std::to_array({AccessKind::load, AccessKind::store, AccessKind::store, AccessKind::atomic,
                                           AccessKind::store, AccessKind::load, AccessKind::fetch});
    Operation& drawn = add(StepKind::access);
    drawn.step.access = random_.pick<AccessKind>(kKinds);
    if (drawn.step.access == AccessKind::atomic && atomics_ == Atomics::left_out) drawn.step.access = AccessKind::load;
    drawn.step.arguments = {at(page()).value, 1 + random_.below(100)};
    if (!executes_) {
      if (drawn.step.access == AccessKind::fetch) drawn.step.access = AccessKind::load;
      return;
    }
    if (drawn.step.access == AccessKind::store) drawn.step.kind = StepKind::place_code;
    if (drawn.step.access == AccessKind::atomic) drawn.step.arguments[1] = 0;
  }

  /// Mostly one that the last call was about.
  std::uint64_t page() {
    if (last_.empty() || random_.one_in(4)) return random_.below(pages_);
    const std::uint64_t first = std::min((last_[0].value - kArenaStart.value) / kPageSize, pages_ - 1);
    const std::uint64_t count = std::clamp<std::uint64_t>(last_[1].value / kPageSize, 1, pages_ - first);
    return first + random_.below(count);
  }

  void map() {
    // A file that is not open, now and then; a userfaultfd is none that can be mapped.
    const bool file = theme_ == Theme::files ? random_.one_in(2) : theme_ != Theme::watched && random_.one_in(50);
    if (file) {
      const std::uint64_t offset = random_.one_in(16) ? 1 : random_.below(6) * kPageSize;
      return with(range(), Sys::mmap,
                  {named(random_.pick(protections())), named(random_.pick(file_flags())), {descriptor()}, {offset}});
    }
    constexpr std::uint64_t kShared = 1;
    Named flags = random_.pick(anonymous_flags());
    // Shared memory has no huge pages in the model.
    while (theme_ == Theme::huge && (flags.value & kShared) != 0) flags = random_.pick(anonymous_flags());
    with(range(), Sys::mmap, {named(random_.pick(protections())), named(flags), kNoDescriptor, {0}});
  }

  void protect() {
    if (keyed_ && random_.one_in(2)) return key_call();
    with(range(), Sys::mprotect, {named(random_.pick(random_.one_in(16) ? odd_protections() : protections()))});
  }

  /// Nearly all there are, or all, of which the kernel may want one for itself.
  void take_keys() {
    for (std::uint64_t left = 13 + random_.below(4); left > 0; --left) call(Sys::pkey_alloc, {{0}, {0}});
  }

  /// Of few keys, so that most are allocated; never of key 0, which the memory of the machine's agent has, too.
  void key_call() {
    const Argument key{1 + random_.below(random_.one_in(8) ? 17 : 3)};
    switch (random_.below(9)) {
      case 0:
        return call(Sys::pkey_alloc, {{random_.one_in(12) ? 1U : 0U}, {random_.below(random_.one_in(12) ? 5 : 3)}});
      case 1:
        return call(Sys::pkey_free, {key});
      case 2:
      case 3:
        return call(Sys::pkey_set, {key, {random_.below(random_.one_in(12) ? 6 : 3)}});
      case 4:
        return call(Sys::pkey_get, {key});
      default: {
        const Argument none{~std::uint64_t{0}, "-1"};
        const Argument given = random_.one_in(6) ? none : random_.one_in(4) ? Argument{0} : key;
        return with(range(), Sys::pkey_mprotect, {named(random_.pick(protections())), given});
      }
    }
  }

  void advise() {
    const bool huge = theme_ == Theme::huge && !random_.one_in(3);
    with(range(), Sys::madvise, {named(random_.pick(huge ? huge_advice() : advice()))});
  }

  void lock() {
    const std::uint64_t kind = random_.below(theme_ == Theme::limits ? 6 : 20);
    // It locks all that a process has, of which a case is only a part: whether that fits no two machines say alike.
    const bool locks_all = !fills_ && !lowers_memlock_ && theme_ != Theme::huge;
    if (kind == 0 && locks_all) return call(Sys::mlockall, {named(random_.pick(lock_all_flags()))});
    if (kind == 1) return call(Sys::munlockall, {});
    auto drawn = range();
    if (kind % 2 == 0 && kind != 2) return call(Sys::munlock, drawn);
    // An ordinary user may not lock that much, whatever else is wrong.
    if (drawn[1].value > kArenaStart.value) drawn[1].value = kPageSize;
    if (kind != 2) return call(Sys::mlock, drawn);
    drawn.push_back({random_.below(3)});
    call(Sys::mlock2, drawn);
  }

  /// What looks at memory, or writes into it, in the kernel.
  void look() {
    if (random_.one_in(3)) return call(Sys::clear_refs, {{random_.one_in(6) ? random_.below(8) : 4}});
    if (!executes_ && random_.one_in(2)) return with(range(), Sys::mincore, {at(page())});
    with(range(), Sys::msync, {named(random_.pick(sync_flags()))});
  }

  /// In place, to a place in the arena, or to one of the kernel's choice.
  void remap() {
    auto drawn = range();
    const std::uint64_t more = random_.one_in(2) ? drawn[1].value / kPageSize : random_.below(4);
    const std::uint64_t old = random_.one_in(12) ? 0 : drawn[1].value;
    drawn[1].value = old;
    const std::uint64_t length = std::min(more, pages_);
    drawn.push_back({length * kPageSize});
    constexpr std::uint64_t kMayMove = 1;
    constexpr std::uint64_t kFixed = 2;
    Named flags = random_.pick(remap_flags());
    // Where the kernel chooses, whether a huge page moves whole depends on the choice.
    while (theme_ == Theme::huge && (flags.value & (kMayMove | kFixed)) == kMayMove)
      flags = random_.pick(remap_flags());
    drawn.push_back(named(flags));
    if ((flags.value & kFixed) != 0) {
      // What is moved has to end in the arena.
      const std::uint64_t longest = std::clamp<std::uint64_t>(length, 1, pages_ - 1);
      drawn.push_back({at(random_.below(pages_ - longest)).value + (random_.one_in(20) ? 1 : 0)});
    }
    call(Sys::mremap, drawn);
  }

  void make_file() {
    call(Sys::memfd_create, {{0, "\"m\""}, named(random_.pick(memfd_flags()))});
    call(Sys::ftruncate, {{kFirstFile}, {file_size()}});
    with(range(), Sys::mmap,
         {named(random_.pick(protections())),
          named(random_.pick(file_flags())),
          {kFirstFile},
          {random_.below(4) * kPageSize}});
  }

  /// Of the first two calls one goes well on every kernel, and of the next two, if more is asked for than there is.
  void make_watcher() {
    for (const Named& flags : userfaultfd_flags().first(2)) call(Sys::userfaultfd, {named(flags)});
    enable(named(random_.pick(userfaultfd_features())));
    enable(named(userfaultfd_features()[0]));
    watcher_range("UFFDIO_REGISTER", {named(random_.pick(register_modes().first(4)))});
  }

  void request(std::string_view name, std::vector<Argument> fields) {
    fields.insert(fields.begin(), {{descriptor()}, {program::ioctl_named(name)->number, name}});
    call(Sys::ioctl, fields);
  }
  void enable(Argument features) { request("UFFDIO_API", {{random_.one_in(40) ? 0U : 0xaaU}, features}); }
  void watcher_range(std::string_view name, std::initializer_list<Argument> more) {
    std::vector<Argument> fields = range();
    fields.insert(fields.end(), more);
    request(name, std::move(fields));
  }

  void watcher_call() {
    switch (random_.below(12)) {
      case 0:
      case 1:
      case 2:
        return watcher_range("UFFDIO_REGISTER", {named(random_.pick(register_modes()))});
      case 3:
        return watcher_range("UFFDIO_UNREGISTER", {});
      case 4:
      case 5:
      case 6:
      case 7:
        return watcher_range("UFFDIO_WRITEPROTECT", {named(random_.pick(protect_modes()))});
      case 8:
      case 9: {
        const std::vector<Argument> to = range();
        const std::uint64_t from = at(page()).value + (random_.one_in(4) ? 8 : 0);
        return request("UFFDIO_COPY", {to[0], {from}, to[1], named(random_.pick(fill_modes()))});
      }
      case 10:
        return watcher_range("UFFDIO_ZEROPAGE", {named(random_.pick(fill_modes()))});
      default:
        if (random_.one_in(3)) return watcher_range("UFFDIO_WAKE", {});
        if (random_.one_in(3)) return call(Sys::userfaultfd, {named(random_.pick(userfaultfd_flags()))});
        if (random_.one_in(2)) return enable(named(random_.pick(userfaultfd_features())));
        return call(Sys::close, {{descriptor()}});
    }
  }

  std::uint64_t descriptor() { return random_.one_in(12) ? kFirstFile + 1 : kFirstFile; }
  std::uint64_t file_size() {
    return random_.below(10) * kPageSize + (random_.one_in(3) ? random_.below(kPageSize) : 0);
  }

  void file_call(std::size_t most) {
    switch (random_.below(12)) {
      case 0:
      case 1:
      case 2:
        return call(Sys::ftruncate, {{descriptor()}, {random_.one_in(30) ? ~std::uint64_t{0} : file_size()}});
      case 3:
      case 4:
        return transfer(executes_ ? Sys::write : Sys::read);
      case 5:
      case 6:
        return transfer(Sys::write);
      case 7:
        return call(
            Sys::lseek,
            {{descriptor()}, {random_.one_in(12) ? ~std::uint64_t{0} - kPageSize : file_size()}, {random_.below(3)}});
      case 8:
        return seal_file(most);
      case 9:
        if (random_.one_in(4)) return call(Sys::close, {{descriptor()}});
        return call(Sys::memfd_create, {{0, "\"m\""}, named(random_.pick(memfd_flags()))});
      default:
        return map();
    }
  }

  /// What a seal keeps out shows in mappings made before it, and in those made after it.
  void seal_file(std::size_t most) {
    const auto seal = [&] {
      call(Sys::fcntl, {{descriptor()}, {1033, "F_ADD_SEALS"}, named(random_.pick(file_seals()))});
    };
    if (most - drawn_.operations.size() < 3 || random_.one_in(2)) return seal();
    const bool before = random_.one_in(2);
    if (!before) seal();
    with(range(), Sys::mmap, {named(protections()[before ? 3 : 1]), named(file_flags()[0]), {kFirstFile}, {0}});
    if (before) seal();
    if (random_.one_in(2)) return call(Sys::mprotect, {last_[0], last_[1], named(protections()[3])});
    call(Sys::madvise, {last_[0], last_[1], {9, "MADV_REMOVE"}});
  }

  /// From or to a few bytes, mostly about the end of a page.
  void transfer(Sys sys) {
    const std::uint64_t start = at(page()).value + (random_.one_in(2) ? kPageSize - 50 : 0);
    const std::uint64_t length = random_.one_in(8) ? 2 * kPageSize : 1 + random_.below(100);
    call(sys, {{descriptor()}, {start}, {length}});
  }

  /// A limit of nothing at all: two words of 0 stand in any page that nobody wrote there.
  void limit(std::size_t most) {
    constexpr std::uint64_t kMdwe = 65;
    const std::uint64_t kind = random_.below(20);
    if (kind == 0) {
      return call(Sys::prctl,
                  {{kMdwe, "PR_SET_MDWE"}, {1 + random_.below(4)}, {random_.one_in(8) ? 1U : 0U}, {0}, {0}});
    }
    if (kind == 1) return call(Sys::prctl, {{kMdwe + 1, "PR_GET_MDWE"}, {0}, {0}, {0}, {0}});
    if (kind >= 4 && kind < 7 && lowers_memlock_ && most - drawn_.operations.size() >= 5) return lower_memlock();
    if (kind < 4) {
      const Argument out = random_.one_in(2) ? Argument{at(page()).value + 512} : Argument{0};
      const Argument in = random_.one_in(6) ? Argument{0} : Argument{at(page()).value + 1024};
      return call(Sys::prlimit64, {{0}, named(random_.pick(resources())), in, out});
    }
    if (kind < 14) return lock();
    return random_.one_in(2) ? map() : remap();
  }

  /// Soft and hard, written to a page that holds nothing there yet: of a few pages, one byte of each is not 0. Then a
  /// lock that fits, and often a growth that does not.
  void lower_memlock() {
    const Addr where{at(page()).value + 1024};
    const std::uint64_t soft = 1 + random_.below(6);
    for (const std::uint64_t word : {0, 8}) {
      Operation& drawn = add(StepKind::access);
      drawn.step.access = AccessKind::store;
      const std::uint64_t pages = soft + (word == 0 ? 0 : random_.below(2));
      drawn.step.arguments = {where.value + word + 1, pages << (kPageShift - 8)};
    }
    call(Sys::prlimit64, {{0}, named(resources().back()), {where.value}, {0}});
    const std::uint64_t first = random_.below(pages_ - 1);
    const std::uint64_t locked = 1 + random_.below(std::min(soft, pages_ - first));
    last_ = {at(first), {locked * kPageSize}};
    call(Sys::mlock, last_);
    call(Sys::mremap, {at(first),
                       {locked * kPageSize},
                       {(locked + 1 + random_.below(4)) * kPageSize},
                       named(remap_flags()[random_.below(2)])});
  }

  /// As many mappings as are allowed, less a few.
  void fill() { add(StepKind::fill).step.arguments = {kFillStart.value, random_.below(8)}; }

  void family(std::size_t most, unsigned depth) {
    if (!living_.empty() && random_.one_in(2)) {
      const std::size_t which = random_.below(living_.size());
      add(StepKind::exit).step.child = living_[which];
      living_.erase(living_.begin() + static_cast<std::ptrdiff_t>(which));
      return;
    }
    const std::size_t index = drawn_.operations.size();
    add(StepKind::fork);
    std::uint8_t child = 0;
    if (children_ < run::kMostCaseChildren && living_.size() < 3 && !random_.one_in(3)) child = ++children_;
    drawn_.operations[index].step.child = child;
    const std::vector<std::uint8_t> outside = std::exchange(living_, {});
    const std::size_t end = std::min(most, index + 1 + random_.below(depth < 2 ? 5 : 2));
    while (drawn_.operations.size() < end) operation(end, depth + 1);
    drawn_.operations[index].step.body = static_cast<std::uint32_t>(drawn_.operations.size() - index - 1);
    living_ = outside;
    if (child != 0) living_.push_back(child);
  }

  Operation& add(StepKind kind) {
    drawn_.operations.emplace_back().step.kind = kind;
    return drawn_.operations.back();
  }
  void call(Sys sys, const std::vector<Argument>& arguments) {
    Operation& drawn = add(StepKind::call);
    drawn.step.sys = sys;
    drawn.step.count = static_cast<std::uint8_t>(arguments.size());
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      drawn.step.arguments[i] = arguments[i].value;
      drawn.names[i] = arguments[i].name;
    }
  }
  void with(std::vector<Argument> range, Sys sys, std::initializer_list<Argument> more) {
    range.insert(range.end(), more);
    call(sys, range);
  }

  /// An address and a length: mostly whole pages of the arena.
  std::vector<Argument> range() {
    // What follows on the same range tells the most.
    if (last_.empty() || !random_.one_in(3)) last_ = fresh_range();
    return last_;
  }

  std::vector<Argument> fresh_range() {
    if (theme_ == Theme::huge && random_.one_in(2)) return huge_range();
    const std::uint64_t first = random_.below(pages_);
    const std::uint64_t longest = pages_ - first;
    const std::uint64_t count = 1 + random_.below(random_.one_in(3) ? longest : std::min<std::uint64_t>(longest, 3));
    std::vector<Argument> drawn{at(first), {count * kPageSize}};
    if (!random_.one_in(12)) return drawn;
    // Which mistake is told where there are two shows the order of the checks.
    const std::uint64_t odd = random_.below(6);
    if (odd < 3) drawn[0].value += 1;
    switch (odd) {
      case 1:
      case 3:
        drawn[1].value = 0;
        break;
      case 4:
        drawn[1].value -= 1;
        break;
      case 2:
      case 5:
        drawn[1].value = ~std::uint64_t{0} - (random_.one_in(2) ? kPageSize : 0);
        break;
      default:
        break;
    }
    return drawn;
  }

  /// One of the arena's huge pages, or both.
  std::vector<Argument> huge_range() {
    constexpr std::uint64_t kHuge = 512;
    const std::uint64_t first = random_.below(2);
    return {at(first * kHuge), {(first == 0 && random_.one_in(2) ? 2 : 1) * kHuge * kPageSize}};
  }

  static Argument named(const Named& named) { return {named.value, named.name}; }
  static Argument at(std::uint64_t page) { return {kArenaStart.value + page * kPageSize}; }

  Random& random_;
  Atomics atomics_;
  Theme theme_{};
  /// Fetches are drawn, and then no contents but code and zeroes: all else would do something when executed.
  bool executes_ = false;
  bool fills_ = false;
  /// RLIMIT_MEMLOCK is set to a few pages.
  bool lowers_memlock_ = false;
  bool keyed_ = false;
  std::uint64_t pages_ = 0;
  Drawn drawn_;
  std::vector<Argument> last_;
  std::vector<std::uint8_t> living_;
  std::uint8_t children_ = 0;
};

}  // namespace

Atomics atomics_on(const program::MachineId& machine) {
  return machine.kind == "vm" && machine.arch == "x86-64" ? Atomics::left_out : Atomics::drawn;
}

Drawn draw(Random& random, unsigned operations, Atomics atomics) { return Drawer(random, atomics).program(operations); }

}  // namespace faultline::check
