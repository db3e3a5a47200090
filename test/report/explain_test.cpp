// What `faultline explain` prints, from steps and events made by hand.
#include "report/explain.h"

#include <gtest/gtest.h>

#include <array>

namespace faultline::report {
namespace {

using mm::Event;
using mm::EventKind;
using mm::Rule;

constexpr Addr kPage{0x7000};

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::size_t occurrences(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

Event about(EventKind kind, Addr page) {
  Event event;
  event.kind = kind;
  event.range = Range::of(page, kPageSize);
  return event;
}

// A write to a page that has no entry: what the model tells, in its order.
void first_write(Explainer& explainer, Addr page, Range vma) {
  explainer.on(about(EventKind::pte, page));
  Event hardware = about(EventKind::hardware, page);
  hardware.write = true;
  explainer.on(hardware);
  Event exception = about(EventKind::exception, page);
  exception.write = true;
  explainer.on(exception);
  Event area;
  area.kind = EventKind::vma;
  area.range = vma;
  area.prot = Prot::read | Prot::write;
  explainer.on(area);
  Event handled = about(EventKind::handled, page);
  handled.counter = Counter::fault_write;
  handled.rule = Rule::new_page_for_write;
  explainer.on(handled);
}

class Explained : public testing::Test {
 protected:
  Explained() {
    statement_.text = "store(a, size)";
    statement_.position = {11, 1};
  }

  run::Step step(std::uint64_t number, std::uint32_t process = 0) const {
    return {number, process, &statement_, arguments_};
  }

  program::Statement statement_{.position = {}, .text = "", .node = program::Repeat{}};
  std::array<std::uint64_t, 2> arguments_{0x7ffff7dff000, 131072};
  std::string text_;
  Explainer explainer_{StepRange{}, DrawVmas::no, [this](std::string_view text) { text_ += text; }, Colour::off};
};

TEST_F(Explained, ShowsTheOperationItsArgumentsTheFaultItsRuleAndTheCost) {
  explainer_.begin(step(4));
  first_write(explainer_, kPage, {Addr{0x7000}, Addr{0x9000}});
  run::StepOutcome outcome;
  outcome.counted[Counter::exceptions] = 1;
  outcome.counted[Counter::fault_write] = 1;
  explainer_.end(step(4), outcome);

  EXPECT_TRUE(text_.starts_with("   4  store(a, size)   (line 11)\n      with     0x7ffff7dff000, 131072\n")) << text_;
  EXPECT_TRUE(contains(text_, "VMA      0x7000-0x9000 rw-p anon, 2 pages\n")) << text_;
  EXPECT_TRUE(contains(text_, "page     0x7000\n")) << text_;
  EXPECT_TRUE(contains(text_, "PTE      none → hardware reports a write\n")) << text_;
  EXPECT_TRUE(contains(text_, "fault 1  write → " + std::string(mm::rule_text(Rule::new_page_for_write)))) << text_;
  EXPECT_TRUE(contains(text_, "[" + std::string(mm::rule_source(Rule::new_page_for_write)) + "]\n")) << text_;
  EXPECT_TRUE(contains(text_, "cost     exceptions 1, fault_write 1\n")) << text_;
  // The VMA stands above the page that asked for it.
  EXPECT_LT(text_.find("VMA "), text_.find("PTE "));
}

TEST_F(Explained, FoldsNeighboursToWhichTheSameHappens) {
  explainer_.begin(step(1));
  for (std::uint64_t i = 0; i < 32; ++i) first_write(explainer_, kPage + i * kPageSize, {Addr{0x7000}, Addr{0x27000}});
  explainer_.end(step(1), {});
  EXPECT_TRUE(contains(text_, "×32 pages 0x7000 – 0x26000\n")) << text_;
  EXPECT_EQ(occurrences(text_, "PTE "), 1u);
  EXPECT_EQ(occurrences(text_, "VMA "), 1u);
}

TEST_F(Explained, DoesNotFoldAPageToWhichSomethingElseHappens) {
  const Range vma{Addr{0x7000}, Addr{0x27000}};
  explainer_.begin(step(1));
  first_write(explainer_, Addr{0x7000}, vma);
  first_write(explainer_, Addr{0x8000}, vma);
  Event zero = about(EventKind::pte, Addr{0x9000});
  zero.entry = {.present = true, .zero_page = true, .readable = true};
  explainer_.on(zero);
  Event reported = about(EventKind::hardware, Addr{0x9000});
  reported.write = true;
  explainer_.on(reported);
  first_write(explainer_, Addr{0xa000}, vma);
  explainer_.end(step(1), {});
  EXPECT_TRUE(contains(text_, "×2 pages 0x7000 – 0x8000\n")) << text_;
  EXPECT_TRUE(contains(text_,
                       "page     0x9000\n      PTE      zero page, r-- → hardware reports a write\n      why      the "
                       "zero page is everybody's and "
                       "never writable\n      page     0xa000\n"))
      << text_;
}

TEST_F(Explained, SaysWhichStepMadeAPageFaultAlsoWhereThatStepIsNotShown) {
  const std::array<std::uint64_t, 2> range{0x7000, 2 * kPageSize};
  const program::Statement access{.position = {5, 1}, .text = "store(a, 2 * PAGE)", .node = program::Access{}};
  program::SystemCall madvise;
  madvise.sys = program::Sys::madvise;
  const program::Statement call{
      .position = {6, 1}, .text = "madvise(a, PAGE, MADV_DONTNEED)", .node = std::move(madvise)};
  Explainer third(StepRange{3, 3}, DrawVmas::no, [this](std::string_view text) { text_ += text; }, Colour::off);
  third.begin({1, 0, &access, range});
  first_write(third, Addr{0x7000}, {Addr{0x7000}, Addr{0x9000}});
  first_write(third, Addr{0x8000}, {Addr{0x7000}, Addr{0x9000}});
  third.end({1, 0, &access, range}, {});
  const std::array<std::uint64_t, 3> discarded{0x7000, kPageSize, 4};
  run::StepOutcome outcome;
  outcome.counted[Counter::ptes_changed] = 1;
  third.begin({2, 0, &call, discarded});
  third.end({2, 0, &call, discarded}, outcome);
  third.begin({3, 0, &access, range});
  first_write(third, Addr{0x7000}, {Addr{0x7000}, Addr{0x9000}});
  Event shared = about(EventKind::pte, Addr{0x8000});
  shared.entry = {.present = true, .readable = true};
  third.on(shared);
  Event hardware = about(EventKind::hardware, Addr{0x8000});
  hardware.write = true;
  third.on(hardware);
  third.end({3, 0, &access, range}, {});
  EXPECT_TRUE(contains(text_, "why      the entry is empty; last changed by step 2 (line 6), madvise(a, PAGE, MADV"))
      << text_;
  EXPECT_TRUE(contains(text_, "why      the entry is read-only; last changed by step 1 (line 5), store(a, 2 * PAGE)"))
      << text_;
}

TEST_F(Explained, NumbersTheFaultsOfAPage) {
  explainer_.begin(step(1));
  explainer_.on(about(EventKind::exception, kPage));
  explainer_.on(about(EventKind::handled, kPage));
  explainer_.on(about(EventKind::exception, kPage));
  explainer_.on(about(EventKind::handled, kPage));
  explainer_.end(step(1), {});
  EXPECT_TRUE(contains(text_, "fault 1  read → handled\n      fault 2  read → handled\n")) << text_;
}

TEST_F(Explained, ShowsTheVmaAgainWhenAnotherIsReached) {
  explainer_.begin(step(1));
  first_write(explainer_, Addr{0x7000}, {Addr{0x7000}, Addr{0x8000}});
  first_write(explainer_, Addr{0x8000}, {Addr{0x8000}, Addr{0x9000}});
  explainer_.end(step(1), {});
  EXPECT_EQ(occurrences(text_, "VMA "), 2u);
  EXPECT_LT(text_.find("page     0x7000"), text_.find("VMA      0x8000"));
  EXPECT_LT(text_.find("VMA      0x8000"), text_.find("page     0x8000"));
}

TEST_F(Explained, KeepsTheFlushOfACopiedPageInItsStory) {
  explainer_.begin(step(1));
  for (const Addr page : {Addr{0x7000}, Addr{0x8000}}) {
    explainer_.on(about(EventKind::exception, page));
    Event flush = about(EventKind::flush, page);
    flush.counter = Counter::flushes_ranged;
    explainer_.on(flush);
    explainer_.on(about(EventKind::handled, page));
  }
  explainer_.end(step(1), {});
  EXPECT_TRUE(contains(text_, "×2 pages")) << text_;
}

TEST_F(Explained, SaysWhichRuleRefusedACall) {
  explainer_.begin(step(1));
  Event refused;
  refused.kind = EventKind::refused;
  refused.error = EPERM;
  refused.rule = Rule::sealed_in_loop;
  explainer_.on(refused);
  run::StepOutcome outcome;
  outcome.error = Errno{EPERM};
  explainer_.end(step(1), outcome);
  EXPECT_TRUE(contains(text_, "refused  EPERM: " + std::string(mm::rule_text(Rule::sealed_in_loop)))) << text_;
  EXPECT_TRUE(contains(text_, "result   -1 EPERM\n")) << text_;
}

TEST_F(Explained, SaysWhatTheKernelFaultsInForItself) {
  explainer_.begin(step(1));
  Event populated = about(EventKind::handled, kPage);
  populated.counter = Counter::populated;
  populated.rule = Rule::new_page_for_write;
  explainer_.on(populated);
  explainer_.end(step(1), {});
  EXPECT_TRUE(contains(text_, "populate pages populated by the kernel: ")) << text_;
}

TEST_F(Explained, NamesTheSignalAndItsCode) {
  explainer_.begin(step(1));
  explainer_.on(about(EventKind::exception, kPage));
  Event signal = about(EventKind::signal, kPage);
  signal.signal = Signal{kSigSegv, kSegvAccErr, kPage};
  signal.rule = Rule::vma_forbids;
  explainer_.on(signal);
  run::StepOutcome outcome;
  outcome.signal = signal.signal;
  explainer_.end(step(1), outcome);
  EXPECT_TRUE(contains(text_, "fault 1  read → SIGSEGV SEGV_ACCERR: ")) << text_;
  EXPECT_TRUE(contains(text_, "result   SIGSEGV SEGV_ACCERR at 0x7000\n")) << text_;
}

TEST_F(Explained, ShowsSplitsAndWhyNeighboursDidNotMerge) {
  explainer_.begin(step(1));
  Event split;
  split.kind = EventKind::split;
  split.range = {Addr{0x8000}, Addr{0x9000}};
  explainer_.on(split);
  Event apart;
  apart.kind = EventKind::merge;
  apart.range = {Addr{0x6000}, Addr{0x7000}};
  apart.rule = Rule::no_merge_flags;
  explainer_.on(apart);
  explainer_.end(step(1), {});
  EXPECT_TRUE(contains(text_, "split    at 0x8000")) << text_;
  EXPECT_TRUE(contains(text_, "merge    0x6000-0x7000 (1 page): " + std::string(mm::rule_text(Rule::no_merge_flags))))
      << text_;
}

TEST_F(Explained, NamesTheChildThatExecutesAStep) {
  explainer_.begin(step(7, 2));
  explainer_.end(step(7, 2), {});
  EXPECT_TRUE(contains(text_, "(line 11, child 2)")) << text_;
}

TEST_F(Explained, PrintsOnlyTheStepsAskedFor) {
  Explainer some(StepRange{2, 3}, DrawVmas::no, [this](std::string_view text) { text_ += text; }, Colour::off);
  for (std::uint64_t i = 1; i <= 5; ++i) {
    some.begin(step(i));
    some.on(about(EventKind::hardware, kPage));
    some.end(step(i), {});
  }
  EXPECT_TRUE(text_.starts_with("   2  "));
  EXPECT_EQ(occurrences(text_, "PTE "), 2u);
  EXPECT_EQ(some.printed(), 2u);
  EXPECT_EQ(some.executed(), 5u);
}

}  // namespace
}  // namespace faultline::report
