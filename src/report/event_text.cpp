#include "report/event_text.h"

#include <fmt/format.h>

#include "base/errno.h"
#include "base/flags.h"
#include "report/format.h"
#include "report/vma_map.h"

namespace faultline::report {
namespace {

using mm::Event;
using mm::EventKind;
using mm::Rule;

constexpr std::size_t kSourceColumn = 112;

std::string_view direction(bool write) { return write ? "write" : "read"; }

std::string because(Rule rule) { return rule == Rule::none ? "" : fmt::format(": {}", mm::rule_text(rule)); }

std::string permissions(bool read, bool write, bool exec) {
  return fmt::format("{}{}{}", read ? 'r' : '-', write ? 'w' : '-', exec ? 'x' : '-');
}

std::string range(Range range) {
  return fmt::format("{}-{} ({})", address(range.start), address(range.end), plural(range.pages(), "page", "pages"));
}

std::string differing(const Event& event) {
  const std::string flags = flags_text(event.differing);
  return flags.empty() ? "" : ": " + flags;
}

// The rule says what was done; only that the kernel did it unasked has to be added.
std::string handled_text(const Event& event) {
  std::string kind(event.counter == Counter::count_ ? "handled" : counter_title(event.counter));
  if (event.rule == Rule::none) return kind;
  return event.counter == Counter::populated ? kind + because(event.rule) : std::string(mm::rule_text(event.rule));
}

std::string signal_text(const Event& event) {
  if (!event.signal) return "a signal" + because(event.rule);
  return fmt::format("{} {}{}", signal_name(event.signal->number),
                     signal_code_name(event.signal->number, event.signal->code), because(event.rule));
}

// Without an exception the kernel faults for itself.
std::string fault_label(const PageContext& context) {
  return context.faults == 0 ? "populate" : fmt::format("fault {}", context.faults);
}
std::string fault_text(const PageContext& context, std::string_view text) {
  if (context.faults == 0) return std::string(text);
  return fmt::format("{} → {}", direction(context.writing), text);
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

namespace {

/// As /proc/self/maps shows it: whether writes are shared, and what is mapped.
std::string_view backing_text(mm::Backing backing) {
  switch (backing) {
    case mm::Backing::anonymous:
      return "p anon";
    case mm::Backing::private_file:
      return "p file";
    case mm::Backing::shared:
      return "s shared";
  }
  return "";
}

}  // namespace

std::string vma_text(const Event& event) {
  const std::string bits =
      permissions(has(event.prot, Prot::read), has(event.prot, Prot::write), has(event.prot, Prot::exec));
  return fmt::format("{}-{} {}{}, {}", address(event.range.start), address(event.range.end), bits,
                     backing_text(event.backing), plural(event.range.pages(), "page", "pages"));
}

std::string entry_text(const mm::EntryView& entry) {
  if (entry.guard) return "guard";
  const std::string_view protection = entry.uffd_wp ? " uffd-wp" : "";
  if (!entry.present) return fmt::format("none{}", protection);
  const std::string bits = permissions(entry.readable, entry.writable, entry.executable);
  if (entry.zero_page) return fmt::format("{}{}{}", entry.huge ? "huge zero page, " : "zero page, ", bits, protection);
  return fmt::format("{}{}{}{}{}, {}", entry.huge ? "huge page, " : "", bits, protection,
                     entry.dirty ? " dirty" : " clean", entry.exclusive ? " exclusive" : "",
                     plural(entry.references, "reference", "references"));
}

std::string page_event_text(const Event& event, const PageContext& context) {
  switch (event.kind) {
    case EventKind::hardware:
      return story_line(
          "PTE",
          fmt::format("{} → hardware reports a {}{}", context.entry, direction(event.write), because(event.rule)),
          event.rule);
    case EventKind::handled:
      return story_line(fault_label(context), fault_text(context, handled_text(event)), event.rule);
    case EventKind::signal:
      return story_line(fault_label(context), fault_text(context, signal_text(event)), event.rule);
    case EventKind::probe:
      return story_line("decode", mm::rule_text(event.rule), event.rule);
    case EventKind::watched:
      return story_line("uffd", mm::rule_text(event.rule), event.rule);
    case EventKind::huge:
      return story_line("split", mm::rule_text(event.rule), event.rule);
    case EventKind::upgrade:
      return story_line("upgrade", mm::rule_text(event.rule), event.rule);
    case EventKind::flush:
      return story_line("flush", "the page", event.rule);
    default:
      return {};
  }
}

std::string call_event_text(const Event& event) {
  switch (event.kind) {
    case EventKind::vma:
      return story_line("VMA", vma_text(event), Rule::none);
    case EventKind::growth:
      return story_line("stack", fmt::format("{}, {}", mm::rule_text(event.rule), range(event.range)), event.rule);
    case EventKind::split:
      return story_line("split", fmt::format("at {}", address(event.range.start)), event.rule);
    case EventKind::huge:
      return story_line("huge", fmt::format("{}, {}", mm::rule_text(event.rule), range(event.range)), event.rule);
    case EventKind::merge:
      if (event.rule == Rule::merged) return story_line("merge", "into " + range(event.range), event.rule);
      return story_line("merge", range(event.range) + because(event.rule) + differing(event), event.rule);
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
