#include "report/page_story.h"

#include <fmt/format.h>

#include <utility>

#include "report/format.h"

namespace faultline::report {
namespace {

std::string heading(std::uint64_t pages, Addr first, Addr last) {
  if (pages == 1) return story_line("page", address(first), mm::Rule::none);
  return fmt::format("      ×{} pages {} – {}", thousands(pages), address(first), address(last));
}

}  // namespace

bool belongs_to_page(const mm::Event& event) {
  switch (event.kind) {
    case mm::EventKind::pte:
    case mm::EventKind::hardware:
    case mm::EventKind::exception:
    case mm::EventKind::handled:
    case mm::EventKind::probe:
    case mm::EventKind::upgrade:
    case mm::EventKind::watched:
    case mm::EventKind::signal:
      return true;
    case mm::EventKind::huge:
      // A split on the way to the page that a fault is about, or by a call.
      return event.rule == mm::Rule::huge_split_zero || event.rule == mm::Rule::huge_split_shared ||
             event.rule == mm::Rule::huge_split_uffd;
    case mm::EventKind::vma:
    case mm::EventKind::growth:
    case mm::EventKind::split:
    case mm::EventKind::merge:
    case mm::EventKind::flush:
    case mm::EventKind::refused:
      return false;
  }
  return false;
}

void PageStory::add(const mm::Event& event, std::string_view why) {
  // A probe reads the instruction, which lies in another page than the one that it is about.
  const bool about_open = open_ && (event.kind == mm::EventKind::probe || event.range.contains(open_->last));
  if (!about_open) {
    close();
    open_ = Story{.lines = {}, .first = event.range.start, .last = event.range.start};
    context_ = {};
  }
  if (event.kind == mm::EventKind::pte) context_.entry = entry_text(event.entry);
  if (event.kind == mm::EventKind::exception) {
    ++context_.faults;
    context_.writing = event.write;
  }
  const std::string text = page_event_text(event, context_);
  if (text.empty()) return;
  open_->lines += text;
  open_->lines += '\n';
  if (!why.empty()) open_->lines += story_line("why", why, mm::Rule::none) + '\n';
}

void PageStory::close() {
  if (!open_) return;
  if (folded_ && folded_->lines == open_->lines) {
    ++folded_->pages;
    folded_->last = open_->last;
  } else {
    print_folded();
    folded_ = std::move(open_);
  }
  open_.reset();
}

void PageStory::print_folded() {
  if (!folded_) return;
  ready_ += heading(folded_->pages, folded_->first, folded_->last) + "\n" + folded_->lines;
  folded_.reset();
}

std::string PageStory::take_closed() {
  print_folded();
  return std::exchange(ready_, {});
}

std::string PageStory::take_all() {
  close();
  return take_closed();
}

}  // namespace faultline::report
