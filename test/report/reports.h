#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "report/comparison.h"

/// Reports made by hand, so that what a table must show is known from the figures and not from a run.
namespace faultline::report {

inline CounterSet every_counter() { return CounterSet{}.set(); }

inline CounterSet only(std::initializer_list<Counter> counters) {
  CounterSet set;
  for (const Counter counter : counters) set.set(std::to_underlying(counter));
  return set;
}

/// An operation of a model: it counts everything and times nothing. `per_call` is what each of the calls counted.
inline run::Row counted(std::uint32_t line, std::string text, std::uint64_t calls,
                        std::initializer_list<std::pair<Counter, std::uint64_t>> per_call = {}) {
  run::Row row;
  row.line = line;
  row.text = std::move(text);
  row.calls = calls;
  row.counted_calls = calls;
  row.known = every_counter();
  for (const auto& [counter, value] : per_call) row.counted[counter] = value * calls;
  return row;
}

/// An operation of a real kernel: nanoseconds, and the two fault counts that it shows.
inline run::Row measured(std::uint32_t line, std::string text, std::vector<double> samples,
                         std::uint64_t faults_per_call = 0) {
  run::Row row = counted(line, std::move(text), samples.size(),
                         {{Counter::exceptions, faults_per_call}, {Counter::minor_faults, faults_per_call}});
  row.metric = run::Metric::nanoseconds;
  row.samples = std::move(samples);
  row.known = only({Counter::exceptions, Counter::minor_faults});
  return row;
}

/// An operation of a vm: instructions that repeat exactly.
inline run::Row exact(std::uint32_t line, std::string text, double instructions, std::uint64_t faults_per_call = 0) {
  run::Row row = measured(line, std::move(text), std::vector<double>(10, instructions), faults_per_call);
  row.metric = run::Metric::instructions;
  return row;
}

/// As if each sample were the median of a process of its own.
inline run::Row in_rounds(run::Row row) {
  row.rounds = static_cast<std::uint32_t>(row.samples.size());
  return row;
}

inline run::Row as_block(run::Row row, std::string name) {
  row.kind = run::RowKind::measure;
  row.text = std::move(name);
  return row;
}

inline run::Row in_block(run::Row row, std::string name) {
  row.measure = std::move(name);
  return row;
}

/// run::Shape, whose fields may be left out where it is written.
struct ShapeOf {
  std::optional<std::uint64_t> vmas = std::nullopt;
  std::optional<std::uint64_t> present = std::nullopt;
  std::optional<std::uint64_t> writable = std::nullopt;
  std::optional<std::uint64_t> huge = std::nullopt;

  run::Shape shape() const { return {vmas, present, writable, huge}; }
};

inline run::Row shaped(run::Row row, ShapeOf before, ShapeOf after = {}) {
  row.before = before.shape();
  row.after = after.shape();
  return row;
}

inline run::Report report_of(std::string machine, std::string kernel, std::vector<run::Row> rows) {
  run::Report report;
  report.machine = std::move(machine);
  report.kernel = std::move(kernel);
  report.rows = std::move(rows);
  return report;
}

inline run::Report report_of(std::string machine, std::vector<run::Row> rows) {
  return report_of(std::move(machine), "", std::move(rows));
}

inline Comparison comparison_of(std::vector<run::Report> reports) {
  Comparison comparison;
  comparison.program = "programs/mprotect-cycle.fl";
  comparison.reports = std::move(reports);
  return comparison;
}

}  // namespace faultline::report
