#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "machine/machine.h"
#include "program/parser.h"

namespace faultline::machine::test {

inline program::Program parsed(std::string_view text) {
  auto program = program::parse(text, "test.fl");
  if (!program) {
    ADD_FAILURE() << program::render(program.error());
    return {};
  }
  return std::move(*program);
}

inline Settings checked() {
  Settings settings;
  settings.check_invariants = CheckInvariants::after_each_operation;
  return settings;
}

inline run::Report run_on(std::string_view machine, std::string_view text, const Settings& settings = checked()) {
  auto made = make_machine(machine);
  if (!made) {
    ADD_FAILURE() << made.error();
    return {};
  }
  return (*made)->run(parsed(text), settings);
}

/// All that went wrong in a run, empty when it completed and every check was evaluated and held.
inline std::string problems(const run::Report& report) {
  std::string text;
  if (report.ending != run::Ending::completed) {
    text += "ending " + std::to_string(static_cast<int>(report.ending)) + " at line " +
            std::to_string(report.ended_at.line) + ": " + report.detail +
            (report.signal ? " " + to_string(*report.signal) : "") + "\n";
  }
  for (const run::Check& check : report.checks) {
    if (check.status == run::CheckStatus::held) continue;
    text += std::to_string(check.position.line) + ": " + check.text + ": " + check.detail + "\n";
  }
  return text;
}

/// The row of a line of the program.
inline const run::Row& row_at(const run::Report& report, std::uint32_t line) {
  static const run::Row none;
  for (const run::Row& row : report.rows) {
    if (row.line == line && row.kind == run::RowKind::operation) return row;
  }
  ADD_FAILURE() << "no row for line " << line;
  return none;
}

}  // namespace faultline::machine::test
