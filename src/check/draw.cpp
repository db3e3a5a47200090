#include "check/draw.h"

#include <algorithm>
#include <array>
#include <utility>

#include "check/drawer.h"

namespace faultline::check {

using program::Sys;
using run::StepKind;

namespace {

/// Beyond every arena.
constexpr Addr kBeside{0x280000000};
constexpr Addr kFillStart{0x300000000};
/// Tens of thousands of mappings take as long as hundreds of other programs.
constexpr std::uint64_t kLimitsPerFill = 400;

}  // namespace

Drawer::Drawer(Random& random, Atomics atomics) : random_(random), atomics_(atomics) {
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

Drawn Drawer::program(unsigned operations) {
  drawn_.watched = Range::of(kArenaStart, pages_ * kPageSize);
  // Nothing happens to memory that is not there. Shared memory is watched in other ways than private.
  shares_ = theme_ == Theme::watched && random_.one_in(4);
  call(Sys::mmap, {{at(0).value},
                   {pages_ / 2 * kPageSize},
                   named(protections()[3]),
                   named(anonymous_flags()[shares_ ? kSharedAnonymous : 0]),
                   kNoDescriptor,
                   {0}});
  if (theme_ == Theme::files) make_file();
  if (theme_ == Theme::watched) make_watcher();
  // Limits concern all that a process has: something beside the arena, as every machine has.
  if (theme_ == Theme::limits) {
    call(Sys::mmap,
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

void Drawer::operation(std::size_t most, unsigned depth) {
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

void Drawer::access() {
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

std::uint64_t Drawer::page() {
  if (last_.empty() || random_.one_in(4)) return random_.below(pages_);
  const std::uint64_t first = std::min((last_[0].value - kArenaStart.value) / kPageSize, pages_ - 1);
  const std::uint64_t count = std::clamp<std::uint64_t>(last_[1].value / kPageSize, 1, pages_ - first);
  return first + random_.below(count);
}

void Drawer::fill() { add(StepKind::fill).step.arguments = {kFillStart.value, random_.below(8)}; }

void Drawer::family(std::size_t most, unsigned depth) {
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

Operation& Drawer::add(StepKind kind) {
  drawn_.operations.emplace_back().step.kind = kind;
  return drawn_.operations.back();
}

void Drawer::call(Sys sys, const std::vector<Argument>& arguments) {
  Operation& drawn = add(StepKind::call);
  drawn.step.sys = sys;
  drawn.step.count = static_cast<std::uint8_t>(arguments.size());
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    drawn.step.arguments[i] = arguments[i].value;
    drawn.names[i] = arguments[i].name;
  }
}

void Drawer::with(std::vector<Argument> range, Sys sys, std::initializer_list<Argument> more) {
  range.insert(range.end(), more);
  call(sys, range);
}

std::vector<Argument> Drawer::range() {
  // What follows on the same range tells the most.
  if (last_.empty() || !random_.one_in(3)) last_ = fresh_range();
  return last_;
}

std::vector<Argument> Drawer::fresh_range() {
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

std::vector<Argument> Drawer::huge_range() {
  constexpr std::uint64_t kHuge = 512;
  const std::uint64_t first = random_.below(2);
  return {at(first * kHuge), {(first == 0 && random_.one_in(2) ? 2 : 1) * kHuge * kPageSize}};
}

Atomics atomics_on(const program::MachineId& machine) {
  return machine.kind == "vm" && machine.arch == "x86-64" ? Atomics::left_out : Atomics::drawn;
}

Drawn draw(Random& random, unsigned operations, Atomics atomics) { return Drawer(random, atomics).program(operations); }

}  // namespace faultline::check
