#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/page.h"
#include "mm/trace.h"
#include "report/event_text.h"

namespace faultline::report {

/// Does the event tell of one page (its entry, what the hardware reports, a fault and how it was handled), rather than
/// of VMAs or the whole call?
bool belongs_to_page(const mm::Event& event);

/// What happens to page after page in one step. Neighbours in time to which the same happens become one story with a
/// count, so that a store over a gigabyte is as short as one over a page.
class PageStory {
 public:
  /// An event for which belongs_to_page() holds. An event of another page than the last closes that one's story.
  /// `why`, if there is any, says what the event cannot: how it came to that.
  void add(const mm::Event& event, std::string_view why = {});

  /// The page of the last event, if its story is still open.
  std::optional<Addr> open_page() const { return open_ ? std::optional(open_->last) : std::nullopt; }

  /// Takes the text of all pages but the one still open; lines end with a newline.
  std::string take_closed();
  /// Takes the text of all pages.
  std::string take_all();

 private:
  struct Story {
    std::string lines;
    Addr first;
    Addr last;
    std::uint64_t pages = 1;
  };
  void close();
  void print_folded();

  std::optional<Story> folded_;
  std::optional<Story> open_;
  PageContext context_;  // of the open page
  std::string ready_;
};

}  // namespace faultline::report
