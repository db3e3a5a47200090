#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/page.h"
#include "run/case.h"

/// Random programs, as the checker draws, plays and shrinks them.
namespace faultline::check {

/// Where they work: a few pages, the same again and again, at addresses that no machine's process uses for itself, and
/// where a huge page may begin.
inline constexpr Addr kArenaStart{0x200000000};
inline constexpr std::uint64_t kArenaPages = 16;
/// Where huge pages are drawn too: two of them, and a part of a third.
inline constexpr std::uint64_t kHugeArenaPages = 2 * 512 + 16;

/// A step, and how a person writes those of its arguments that have a name.
struct Operation {
  run::CaseStep step;
  std::array<std::string_view, 6> names{};
};

/// One program: what one fresh process does. A fork's body follows it, as in run::Case.
struct Drawn {
  Range watched = Range::of(kArenaStart, kArenaPages* kPageSize);
  std::vector<Operation> operations;
  /// So many at its beginning make it comparable at all, and are never taken away.
  std::size_t needed = 0;
};

/// For the machines.
run::Case case_of(const Drawn& drawn);

/// Without the operations [first, last), none of them needed. What a child whose fork is taken away did, its parent
/// does.
Drawn without(const Drawn& drawn, std::size_t first, std::size_t last);

/// The operation as a program says it, without its result: "munmap(0x200001000, 2 * PAGE)".
std::string text_of(const Operation& operation);

}  // namespace faultline::check
