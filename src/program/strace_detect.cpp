#include <algorithm>
#include <array>

#include "program/strace.h"
#include "program/strace_line.h"

namespace faultline::program {
namespace {

enum class Hint : std::uint8_t { none, log, program };

constexpr auto kNotInPrograms = std::to_array<std::string_view>(
    {"execve", "exit_group", "openat", "clone", "clone3", "vfork", "arch_prctl", "set_tid_address", "set_robust_list",
     "rseq", "fstat", "newfstatat", "access", "pread64", "prlimit64", "rt_sigaction", "rt_sigprocmask", "futex"});
constexpr auto kInProgramsOnly =
    std::to_array<std::string_view>({"param", "let", "repeat", "for", "measure", "child", "threads", "expect", "load",
                                     "store", "atomic", "fetch", "code"});

/// The word that a line begins with.
std::string_view first_word(std::string_view line) {
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  return line.substr(0, line.find_first_not_of("abcdefghijklmnopqrstuvwxyz_0123456789"));
}

/// ") = 0x7f…" behind a call that gives an address: a program cannot know it.
bool gives_address(const StraceLine& line) {
  return (line.name == "mmap" || line.name == "mremap" || line.name == "brk") &&
         line.body.rfind("= 0x") != std::string_view::npos;
}

/// "= 0 <0.000012>"
bool has_duration(std::string_view body) {
  if (!body.ends_with('>')) return false;
  const std::size_t open = body.rfind(" <");
  if (open == std::string_view::npos) return false;
  const std::string_view inside = body.substr(open + 2, body.size() - open - 3);
  return !inside.empty() && inside.find_first_not_of("0123456789.") == std::string_view::npos;
}

Hint hint(std::string_view text) {
  if (text.starts_with('#')) return Hint::program;
  const StraceLine line = read_strace_line(text);
  switch (line.kind) {
    case StraceLineKind::unfinished:
    case StraceLineKind::resumed:
    case StraceLineKind::exit:
    case StraceLineKind::signal:
    case StraceLineKind::attached:
      return Hint::log;
    case StraceLineKind::call:
      if (line.prefix == StracePrefix::present || gives_address(line) || has_duration(line.body)) return Hint::log;
      if (std::ranges::find(kNotInPrograms, line.name) != kNotInPrograms.end()) return Hint::log;
      break;
    default:
      break;
  }
  const std::string_view word = first_word(text);
  return std::ranges::find(kInProgramsOnly, word) != kInProgramsOnly.end() ? Hint::program : Hint::none;
}

}  // namespace

bool looks_like_strace(std::string_view text) {
  constexpr int kLinesLookedAt = 1000;
  for (int i = 0; i < kLinesLookedAt && !text.empty(); ++i) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const Hint found = hint(text.substr(0, end));
    if (found != Hint::none) return found == Hint::log;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return false;
}

}  // namespace faultline::program
