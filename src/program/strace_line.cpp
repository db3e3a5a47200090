#include "program/strace_line.h"

#include "program/character.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace faultline::program {
namespace {

constexpr std::string_view kBlanks = " \t\r";
constexpr std::string_view kUnended[] = {"<unfinished ...>", "<detached ...>"};

void skip_blanks(std::string_view& text) { text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size())); }

/// Takes the characters off the front that `is` holds for.
template <class Is>
std::string_view take_while(std::string_view& text, Is is) {
  const auto end = std::ranges::find_if_not(text, is);
  const std::string_view taken = text.substr(0, static_cast<std::size_t>(end - text.begin()));
  text.remove_prefix(taken.size());
  return taken;
}

/// Takes off everything up to and including `last`; nothing when that is not there.
std::optional<std::string_view> take_through(std::string_view& text, char last) {
  const std::size_t end = text.find(last);
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view taken = text.substr(0, end + 1);
  text.remove_prefix(end + 1);
  return taken;
}

/// A process id: the kernel's PID_MAX_LIMIT tells one from a time in seconds.
std::optional<std::uint32_t> pid_of(std::string_view digits) {
  constexpr std::uint32_t kMostPids = 1U << 22U;
  std::uint32_t pid = 0;
  const auto [end, error] = std::from_chars(digits.begin(), digits.end(), pid);
  if (error != std::errc{} || end != digits.end() || pid == 0 || pid > kMostPids) return std::nullopt;
  return pid;
}

/// Takes "7196" or, with -Y, "7196<node>" off the front.
std::optional<std::uint32_t> take_pid(std::string_view& text) {
  std::string_view rest = text;
  const auto pid = pid_of(take_while(rest, is_digit));
  if (!pid) return std::nullopt;
  if (rest.starts_with('<') && !take_through(rest, '>')) return std::nullopt;
  text = rest;
  return pid;
}

/// Takes one group off that stands before a call: a pid, a time, an address. False when there is none.
bool take_prefix(std::string_view& text, StraceLine& line) {
  std::string_view rest = text;
  if (rest.starts_with("[pid")) {
    rest.remove_prefix(4);
    skip_blanks(rest);
    const auto pid = take_pid(rest);
    if (!pid || !rest.starts_with(']')) return false;
    rest.remove_prefix(1);
    line.pid = *pid;
  } else if (rest.starts_with('[')) {  // -i, -n
    const auto group = take_through(rest, ']');
    constexpr std::string_view kInside = "0123456789abcdefx? []";
    if (!group || group->find_first_not_of(kInside) != std::string_view::npos) return false;
  } else if (rest.starts_with("(+")) {  // -r beside an absolute time
    if (!take_through(rest, ')')) return false;
  } else if (!rest.empty() && is_digit(rest.front())) {
    const auto pid = line.pid == 0 ? take_pid(rest) : std::nullopt;
    if (pid && (rest.empty() || kBlanks.contains(rest.front()))) {
      line.pid = *pid;
    } else {
      rest = text;
      take_while(rest, [](char c) { return is_digit(c) || c == ':' || c == '.'; });
    }
    if (rest.empty() || !kBlanks.contains(rest.front())) return false;
  } else {
    return false;
  }
  skip_blanks(rest);
  text = rest;
  return true;
}

/// "strace: Process 7196 attached", and everything else that strace says of itself.
void read_remark(std::string_view text, StraceLine& line) {
  line.kind = StraceLineKind::remark;
  constexpr std::string_view kProcess = "strace: Process ";
  if (!text.starts_with(kProcess)) return;
  text.remove_prefix(kProcess.size());
  const auto pid = take_pid(text);
  if (!pid || !text.starts_with(" attached")) return;
  line.kind = StraceLineKind::attached;
  line.pid = *pid;
}

void cut_unfinished(StraceLine& line, StraceLineKind otherwise) {
  line.kind = otherwise;
  for (const std::string_view mark : kUnended) {
    if (!line.body.ends_with(mark)) continue;
    line.body.remove_suffix(mark.size());
    line.kind = StraceLineKind::unfinished;
  }
}

void read_resumed(std::string_view text, StraceLine& line) {
  text.remove_prefix(4);
  skip_blanks(text);
  line.name = take_while(text, is_name_part);
  constexpr std::string_view kResumed = " resumed>";
  if (line.name.empty() || !text.starts_with(kResumed)) return;
  line.body = text.substr(kResumed.size());
  line.kind = StraceLineKind::resumed;
}

}  // namespace

StraceLine read_strace_line(std::string_view text) {
  StraceLine line;
  text = text.substr(0, text.find_last_not_of(kBlanks) + 1);
  const bool indented = text.starts_with(" > ");
  skip_blanks(text);
  if (text.empty()) {
    line.kind = StraceLineKind::blank;
    return line;
  }
  while (take_prefix(text, line)) line.prefix = StracePrefix::present;
  if (text.starts_with("strace: ")) {
    read_remark(text, line);
  } else if (text.starts_with("+++ ") && text.ends_with(" +++")) {
    line.kind = StraceLineKind::exit;
  } else if (text.starts_with("--- ") && text.ends_with(" ---")) {
    line.kind = StraceLineKind::signal;
    text.remove_prefix(4);
    line.name = take_while(text, is_name_part);
  } else if (text.starts_with("<... ")) {
    read_resumed(text, line);
  } else if (indented) {  // -k
    line.kind = StraceLineKind::remark;
  } else {
    line.name = take_while(text, [](char c) { return is_name_part(c) || c == '?'; });
    if (!line.name.empty() && !is_digit(line.name.front()) && text.starts_with('(')) {
      line.body = text;
      cut_unfinished(line, StraceLineKind::call);
    }
  }
  return line;
}

}  // namespace faultline::program
