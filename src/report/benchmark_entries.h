#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>

#include "report/comparison.h"
#include "report/json_value.h"

namespace faultline::report {

/// Writes the `benchmarks` array of Google Benchmark's JSON: see json.h for what becomes an entry.
class BenchmarkEntries {
 public:
  void add(const Comparison& comparison, const run::Report& report);

  std::string text() && { return std::move(array_).text(); }

 private:
  void add_row(const std::string& name, const run::Row& row);
  std::string unique(const std::string& name);

  JsonArray array_;
  std::uint64_t family_ = 0;
  std::unordered_map<std::string, std::uint64_t> uses_;
};

}  // namespace faultline::report
