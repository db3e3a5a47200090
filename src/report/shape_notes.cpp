// The footnotes about state: which rows were not compared, and the shapes that rows worked on.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "report/footnotes.h"
#include "report/format.h"

namespace faultline::report {
namespace {

// Beyond this many, lines are counted instead of listed.
constexpr std::size_t kMostListed = 8;

struct Group {
  std::string text;
  std::vector<std::string> members;
};

// Members under the same text, in the order in which texts first appear. Few texts differ, so a scan will do; a text
// that never repeats is bounded by what collect() stops at.
class Groups {
 public:
  void add(std::string text, std::string member) {
    const auto found = std::ranges::find(groups_, text, &Group::text);
    if (found != groups_.end()) {
      found->members.push_back(std::move(member));
    } else if (groups_.size() < kMostGroups) {
      groups_.push_back({std::move(text), {std::move(member)}});
    } else {
      ++left_out_;
    }
  }
  const std::vector<Group>& groups() const { return groups_; }
  std::size_t left_out() const { return left_out_; }

 private:
  static constexpr std::size_t kMostGroups = 24;
  std::vector<Group> groups_;
  std::size_t left_out_ = 0;
};

std::string list(const std::vector<std::string>& members) {
  std::string text;
  for (std::size_t i = 0; i < std::min(members.size(), kMostListed); ++i) text += (i > 0 ? ", " : "") + members[i];
  if (members.size() > kMostListed) text += fmt::format(" and {} more", thousands(members.size() - kMostListed));
  return text;
}

std::string lines(const std::vector<std::string>& members) {
  return fmt::format("{} {}", members.size() == 1 ? "line" : "lines", list(members));
}

void add_left_out(std::vector<Footnote>& notes, const Groups& groups, std::string_view what) {
  if (groups.left_out() == 0) return;
  notes.push_back(
      {fmt::format("… and {} more {}; --json has all of them", thousands(groups.left_out()), what), Emphasis::aside});
}

std::string shape_text(const run::Shape& shape) {
  std::string text;
  const auto add = [&](const std::optional<std::uint64_t>& value, std::string_view one, std::string_view many) {
    if (value) text += (text.empty() ? "" : ", ") + plural(*value, one, many);
  };
  add(shape.vmas, "VMA", "VMAs");
  add(shape.present, "page present", "pages present");
  if (shape.huge && *shape.huge > 0) add(shape.huge, "huge page", "huge pages");
  return text;
}

// What all machines agree on, or nothing where two of them differ in a field that both know.
std::optional<run::Shape> common_shape(const AlignedRow& row) {
  run::Shape common;
  for (const run::Row* cell : row.cells) {
    if (cell == nullptr) continue;
    for (auto field : {&run::Shape::vmas, &run::Shape::present, &run::Shape::huge}) {
      const auto& value = cell->before.*field;
      if (!value) continue;
      if (common.*field && common.*field != value) return std::nullopt;
      common.*field = value;
    }
  }
  return common;
}

// " on both", " on all", or by name where not every machine reached the operation; nothing for a table of one.
std::string on_machines(const Comparison& comparison, const AlignedRow& row) {
  const std::size_t machines = row.cells.size();
  if (machines == 1) return "";
  if (std::ranges::none_of(row.cells, [](const run::Row* cell) { return cell == nullptr; })) {
    return machines == 2 ? " on both" : " on all";
  }
  std::string text;
  for (std::size_t i = 0; i < machines; ++i) {
    if (row.cells[i] != nullptr) text += (text.empty() ? " on " : ", ") + comparison.reports[i].machine;
  }
  return text;
}

std::string shape_sentence(const Comparison& comparison, const AlignedRow& row) {
  if (const auto common = common_shape(row)) {
    const std::string text = shape_text(*common);
    return text.empty() ? "" : text + on_machines(comparison, row);
  }
  std::string text;
  for (std::size_t i = 0; i < row.cells.size(); ++i) {
    if (row.cells[i] == nullptr) continue;
    const std::string shape = shape_text(row.cells[i]->before);
    if (shape.empty()) continue;
    text += fmt::format("{}{} on {}", text.empty() ? "" : "; ", shape, comparison.reports[i].machine);
  }
  return text;
}

struct Writable {
  std::uint64_t writable;
  std::uint64_t present;
  bool operator==(const Writable&) const = default;
};

std::optional<Writable> writable_after(const run::Row* row) {
  if (row == nullptr || !row->after.writable || !row->after.present) return std::nullopt;
  return Writable{*row->after.writable, *row->after.present};
}

bool changed_writable(const run::Row* row) {
  return row != nullptr && row->before.writable && row->after.writable && row->before.writable != row->after.writable;
}

// Worth a line where machines differ; with one machine, where the operation changed it.
bool tells(const AlignedRow& row) {
  if (row.cells.size() == 1) return changed_writable(row.cells.front());
  std::optional<Writable> first;
  for (const run::Row* cell : row.cells) {
    const auto found = writable_after(cell);
    if (first && found && *first != *found) return true;
    if (found) first = found;
  }
  return false;
}

std::string writable_sentence(const Comparison& comparison, const AlignedRow& row) {
  if (!tells(row)) return {};
  std::string text;
  for (std::size_t i = 0; i < row.cells.size(); ++i) {
    const auto found = writable_after(row.cells[i]);
    if (!found) continue;
    text += fmt::format("{}{} of {}", text.empty() ? "" : ", ", thousands(found->writable), thousands(found->present));
    if (row.cells.size() > 1) text += " on " + comparison.reports[i].machine;
  }
  return text;
}

}  // namespace

std::vector<Footnote> refusals(const std::vector<AlignedRow>& rows) {
  Groups operations;
  std::vector<Footnote> blocks;
  for (const AlignedRow& row : rows) {
    if (row.comparable()) continue;
    if (row.any().kind == run::RowKind::operation) {
      operations.add(row.refusal, std::to_string(row.any().line));
    } else {
      blocks.push_back(
          {fmt::format("{} not compared: {}", printable(row.any().text, 60), row.refusal), Emphasis::failure});
    }
  }
  std::vector<Footnote> notes;
  for (const Group& group : operations.groups()) {
    notes.push_back({fmt::format("{} not compared: {}", lines(group.members), group.text), Emphasis::failure});
  }
  add_left_out(notes, operations, "lines not compared");
  std::ranges::move(blocks, std::back_inserter(notes));
  return notes;
}

std::vector<Footnote> shapes(const Comparison& comparison, const std::vector<AlignedRow>& rows) {
  Groups before;
  Groups writable;
  for (const AlignedRow& row : rows) {
    if (row.any().kind != run::RowKind::operation) continue;
    if (std::string text = shape_sentence(comparison, row); !text.empty()) {
      before.add(std::move(text), std::to_string(row.any().line));
    }
    if (std::string text = writable_sentence(comparison, row); !text.empty()) {
      writable.add(std::move(text), std::to_string(row.any().line));
    }
  }
  std::vector<Footnote> notes;
  for (const Group& group : before.groups()) {
    notes.push_back({fmt::format("shape before {}: {}", lines(group.members), group.text)});
  }
  add_left_out(notes, before, "shapes");
  for (const Group& group : writable.groups()) {
    notes.push_back({fmt::format("writable after {}: {}", lines(group.members), group.text)});
  }
  return notes;
}

}  // namespace faultline::report
