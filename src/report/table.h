#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "report/grid.h"
#include "report/json_value.h"

/// One table for every form in which it is given: a terminal, CSV, JSON.
namespace faultline::report {

/// A figure or a text. Nothing is an empty cell, and null.
using TableCell = std::variant<std::monostate, std::uint64_t, std::string>;

struct Column {
  std::string key;      // in data: CSV's first line, JSON's names; empty: for readers only
  std::string heading;  // for readers; empty: in data only
  Align align = Align::left;
};

struct Table {
  std::vector<Column> columns;
  std::vector<std::vector<TableCell>> rows;  // as many cells as columns; what matters most stands first
};

/// The first `most` rows for a terminal, then a line that says how many were left out. A figure of 0 is an empty cell,
/// so that what is there is seen. Empty for a table without rows.
std::string table_text(const Table& table, std::size_t most, Colour colour);

/// All rows as RFC 4180 has it, lines ending with a newline alone; the first line names the columns.
std::string table_csv(const Table& table);

/// All rows: an array of objects.
Json table_json(const Table& table);

}  // namespace faultline::report
