#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "machine/machine.h"
#include "program/parser.h"

namespace faultline::machine {

/// Runs a program on the model of a kernel and on the kernel itself, whose calls of functions are counted, and hands
/// the rows of both to `expect(model, kernel)` in pairs.
template <class Expect>
void expect_of_each_row(const std::string& kernel, std::string_view text, Expect&& expect) {
  const auto program = program::parse(text, "program");
  ASSERT_TRUE(program);
  Settings settings;
  const run::Report model = (*make_machine("model:" + kernel))->run(*program, settings);
  settings.attribute = Attribute::functions;
  const run::Report report = (*make_machine("vm:" + kernel))->run(*program, settings);
  ASSERT_EQ(report.ending, run::Ending::completed) << report.detail;
  ASSERT_EQ(model.ending, run::Ending::completed) << model.detail;
  ASSERT_EQ(model.rows.size(), report.rows.size());
  for (std::size_t i = 0; i < model.rows.size(); ++i) expect(model.rows[i], report.rows[i]);
}

}  // namespace faultline::machine
