#include "report/event_text.h"

#include <fmt/format.h>

#include "base/errno.h"
#include "base/flags.h"
#include "report/format.h"

namespace faultline::report {
namespace {

using mm::Event;
using mm::EventKind;
using mm::Rule;

constexpr std::size_t kSourceColumn = 104;

std::string_view direction(bool write) { return write ? "write" : "read"; }

std::string because(Rule rule) { return rule == Rule::none ? "" : fmt::format(": {}", mm::rule_text(rule)); }

std::string permissions(bool read, bool write, bool exec) {
  return fmt::format("{}{}{}", read ? 'r' : '-', write ? 'w' : '-', exec ? 'x' : '-');
}

std::string range(Range range) {
  return fmt::format("{}-{} ({})", address(range.start), address(range.end), plural(range.pages(), "page", "pages"));
}

std::string handled_text(const Event& event) {
  const std::string kind(event.counter == Counter::count_ ? "handled" : counter_title(event.counter));
  return kind + because(event.rule);
}

}  // namespace

std::string address(Addr addr) { return fmt::format("{:#x}", addr.value); }

std::string story_line(std::string_view label, std::string_view text, Rule rule) {
  std::string line = fmt::format("      {:<8} {}", label, text);
  const std::string_view source = rule == Rule::none ? "" : mm::rule_source(rule);
  if (source.empty()) return line;
  const std::size_t columns = width(line);
  return fmt::format("{}{}[{}]", line, std::string(columns < kSourceColumn ? kSourceColumn - columns : 2, ' '), source);
}

std::string vma_text(const Event& event) {
  const std::string bits =
      permissions(has(event.prot, Prot::read), has(event.prot, Prot::write), has(event.prot, Prot::exec));
  return fmt::format("{}-{} {}p anon, {}", address(event.range.start), address(event.range.end), bits,
                     plural(event.range.pages(), "page", "pages"));
}

std::string entry_text(const mm::EntryView& entry) {
  if (entry.guard) return "guard";
  if (!entry.present) return "none";
  const std::string bits = permissions(entry.readable, entry.writable, entry.executable);
  if (entry.zero_page) return "zero page, " + bits;
  return fmt::format("{}{}{}, {}", bits, entry.dirty ? " dirty" : " clean", entry.exclusive ? " exclusive" : "",
                     plural(entry.references, "reference", "references"));
}

std::string page_event_text(const Event& event, unsigned faults) {
  switch (event.kind) {
    case EventKind::pte:
      return story_line("PTE", entry_text(event.entry), Rule::none);
    case EventKind::hardware:
      return story_line("hardware", fmt::format("reports a {}{}", direction(event.write), because(event.rule)),
                        event.rule);
    case EventKind::exception:
      return story_line(fmt::format("fault {}", faults), direction(event.write), Rule::none);
    case EventKind::handled:
      return story_line("handled", handled_text(event), event.rule);
    case EventKind::probe:
      return story_line("decode", mm::rule_text(event.rule), event.rule);
    case EventKind::upgrade:
      return story_line("upgrade", (event.write ? "writable at once" : "stays read-only") + because(event.rule),
                        event.rule);
    case EventKind::flush:
      return story_line("flush", "the page", event.rule);
    case EventKind::signal: {
      const std::string name = event.signal ? fmt::format("{} {}", signal_name(event.signal->number),
                                                          signal_code_name(event.signal->number, event.signal->code))
                                            : "signal";
      return story_line("signal", name + because(event.rule), event.rule);
    }
    default:
      return {};
  }
}

std::string call_event_text(const Event& event) {
  switch (event.kind) {
    case EventKind::vma:
      return story_line("VMA", vma_text(event), Rule::none);
    case EventKind::split:
      return story_line("split", fmt::format("at {}", address(event.range.start)), event.rule);
    case EventKind::merge:
      if (event.rule == Rule::merged) return story_line("merge", "into " + range(event.range), event.rule);
      return story_line("no merge", "with " + range(event.range) + because(event.rule), event.rule);
    case EventKind::flush:
      return story_line("flush",
                        (event.counter == Counter::flushes_full ? "full, for " : "ranged, ") + range(event.range),
                        event.rule);
    case EventKind::refused:
      return story_line("refused", fmt::format("{}{}", errno_name(Errno{event.error}), because(event.rule)),
                        event.rule);
    default:
      return {};
  }
}

}  // namespace faultline::report
