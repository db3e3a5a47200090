#include <algorithm>
#include <utility>

#include "base/flags.h"
#include "check/drawer.h"

namespace faultline::check {

using program::Sys;
using run::StepKind;

namespace {

constexpr auto kGuardInstall = std::to_underlying(Advice::guard_install);

bool is_shared(const Named& flags) { return has(static_cast<MapFlags>(flags.value), MapFlags::shared); }

}  // namespace

void Drawer::map() {
  // A file that is not open, now and then; a userfaultfd is none that can be mapped.
  const bool file = theme_ == Theme::files ? random_.one_in(2) : theme_ != Theme::watched && random_.one_in(50);
  if (file) {
    const std::uint64_t offset = random_.one_in(16) ? 1 : random_.below(6) * kPageSize;
    return with(range(), Sys::mmap,
                {named(random_.pick(protections())), named(random_.pick(file_flags())), {descriptor()}, {offset}});
  }
  Named flags = random_.pick(anonymous_flags());
  // Shared memory has no huge pages in the model.
  while (theme_ == Theme::huge && is_shared(flags)) flags = random_.pick(anonymous_flags());
  shares_ |= is_shared(flags);
  with(range(), Sys::mmap, {named(random_.pick(protections())), named(flags), kNoDescriptor, {0}});
}

void Drawer::protect() {
  if (keyed_ && random_.one_in(2)) return key_call();
  with(range(), Sys::mprotect, {named(random_.pick(random_.one_in(16) ? odd_protections() : protections()))});
}

void Drawer::take_keys() {
  for (std::uint64_t left = 13 + random_.below(4); left > 0; --left) call(Sys::pkey_alloc, {{0}, {0}});
}

void Drawer::key_call() {
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

void Drawer::advise() {
  const bool huge = theme_ == Theme::huge && !random_.one_in(3);
  Named drawn = random_.pick(huge ? huge_advice() : advice());
  // Where shared memory has a userfaultfd's markers, MADV_GUARD_INSTALL of 6.18 tries again for ever.
  while (theme_ == Theme::watched && shares_ && drawn.value == kGuardInstall) drawn = random_.pick(advice());
  with(range(), Sys::madvise, {named(drawn)});
}

void Drawer::lock() {
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

void Drawer::look() {
  if (random_.one_in(3)) return call(Sys::clear_refs, {{random_.one_in(6) ? random_.below(8) : 4}});
  if (!executes_ && random_.one_in(2)) return with(range(), Sys::mincore, {at(page())});
  with(range(), Sys::msync, {named(random_.pick(sync_flags()))});
}

void Drawer::remap() {
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
  while (theme_ == Theme::huge && (flags.value & (kMayMove | kFixed)) == kMayMove) flags = random_.pick(remap_flags());
  drawn.push_back(named(flags));
  if ((flags.value & kFixed) != 0) {
    // What is moved has to end in the arena.
    const std::uint64_t longest = std::clamp<std::uint64_t>(length, 1, pages_ - 1);
    drawn.push_back({at(random_.below(pages_ - longest)).value + (random_.one_in(20) ? 1 : 0)});
  }
  call(Sys::mremap, drawn);
}

void Drawer::limit(std::size_t most) {
  constexpr std::uint64_t kMdwe = 65;
  const std::uint64_t kind = random_.below(20);
  if (kind == 0) {
    return call(Sys::prctl, {{kMdwe, "PR_SET_MDWE"}, {1 + random_.below(4)}, {random_.one_in(8) ? 1U : 0U}, {0}, {0}});
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

void Drawer::lower_memlock() {
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

}  // namespace faultline::check
