#pragma once

#include <string>
#include <string_view>

#include "base/page.h"
#include "mm/trace.h"

/// The model's decisions in words.
namespace faultline::report {

/// One line of an explanation: a label, a text, and the section in which the rule stands at the right margin:
/// "      fault 1  write: a new page is mapped      [A.6]".
std::string story_line(std::string_view label, std::string_view text, mm::Rule rule);

/// "0x7ffff7ffd000".
std::string address(Addr addr);

/// "0x7000-0x9000 rw-p": as /proc/PID/maps shows a private mapping, and its size in pages.
std::string vma_text(const mm::Event& event);

/// "none", "guard", "zero page r--", "rw- dirty exclusive, 1 reference".
std::string entry_text(const mm::EntryView& entry);

/// What has happened to a page so far in a step: a line may need to know.
struct PageContext {
  std::string entry;     // the entry that the access met, as entry_text() has it
  unsigned faults = 0;   // exceptions taken for the page
  bool writing = false;  // the direction of the last one
};

/// A whole line for an event that belongs to a page. Empty for one that only prepares the next: an entry stands in the
/// line of what the hardware reports of it, an exception in the line of how it was handled.
std::string page_event_text(const mm::Event& event, const PageContext& context);

/// A whole line for any other event.
std::string call_event_text(const mm::Event& event);

}  // namespace faultline::report
