#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "program/program.h"
#include "run/row.h"

/// What a program will report, known before it runs: one row per operation and per measure block, one check per
/// assertion and `expect`. The executor then only fills places that exist already.
namespace faultline::run {

inline constexpr std::uint32_t kNoIndex = ~std::uint32_t{0};

/// Does a measure block fork or start threads? Its work is then not all done by the measuring thread.
enum class Spawns : std::uint8_t { no, yes };

/// A statement with the places that it reports to.
struct PlannedStatement {
  const program::Statement* statement = nullptr;
  std::uint32_t row = kNoIndex;    // operations and measure blocks
  std::uint32_t check = kNoIndex;  // operations with an assertion, and `expect`
  Spawns spawns = Spawns::no;      // of a block: the block itself or any block in it
  std::vector<PlannedStatement> body;
};

struct PlannedRow {
  RowKind kind = RowKind::operation;
  std::uint32_t line = 0;
  std::string text;
  std::string measure;
};

struct PlannedCheck {
  program::Position position;
  std::string text;
};

struct Plan {
  std::vector<PlannedStatement> body;
  std::vector<PlannedRow> rows;  // in program order; a measure block's row follows those of its operations
  std::vector<PlannedCheck> checks;

  /// The row of the measure block of that name; of the first one if there are several.
  std::optional<std::uint32_t> measure_row(std::string_view name) const;
};

/// The plan refers to the statements of `program`, which must outlive it.
Plan make_plan(const program::Program& program);

}  // namespace faultline::run
