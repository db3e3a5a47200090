#pragma once

#include <span>
#include <string>

#include "report/comparison.h"

namespace faultline::report {

/// What the JSON says about where it comes from.
struct JsonContext {
  std::string date;     // RFC 3339, local time with offset
  std::string host;     // the host's name
  std::string command;  // as typed
  std::string version;  // of Faultline
};

/// The runs as JSON that Google Benchmark's tools (tools/compare.py) read.
///
/// `context` and `benchmarks` follow Google Benchmark: one "iteration" entry per sample, with its repetition_index, and
/// the mean, median, stddev and cv as "aggregate" entries after them. Only measured nanoseconds become entries: rows
/// that were counted have no time, and none is made up for them. The schema wants a cpu_time; the wall clock is the
/// only one that was read, so cpu_time repeats real_time and `context.faultline_cpu_time` says so. A name is
/// "PROGRAM/PARAM:VALUE/…/MACHINE/LINE OPERATION" and unique in the file.
///
/// `faultline` holds everything, counted rows included: per run its program, params, machine, kernel, ending, notes,
/// checks (held, failed, skipped, or not for this machine) and rows (line, operation, metric, samples, the processes
/// (`rounds`) that they come from, summary with the median's interval, counters with the number of executions that they
/// sum over, shapes before and after, and why the row may not be compared).
///
/// Text that is not UTF-8 is replaced by U+FFFD. Ends with a newline.
std::string json(std::span<const Comparison> comparisons, const JsonContext& context);

}  // namespace faultline::report
