// Recorded runs further than fuzz_json takes them: whatever is read can be compared and shown.
#include <cstdint>
#include <string>

#include "holds.h"
#include "report/compare.h"
#include "report/compare_json.h"
#include "report/compare_text.h"
#include "report/stored_runs.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace faultline;
  const auto runs = report::read_runs(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!runs) return 0;
  const report::SideNames names{"a.json", "b.json"};
  for (const auto independent : {report::Independent::processes, report::Independent::samples}) {
    const report::RunComparison same = report::compare_runs(*runs, *runs, independent);
    fuzz::holds(same.count(report::Outcome::different) == 0, "a run does not differ from itself");
    static_cast<void>(report::compare_text(same, names, report::Detail::summaries, report::Colour::off));
    static_cast<void>(report::compare_json(same, names));
  }
  if (auto sides = report::two_sides(*runs)) {
    const report::RunComparison sided =
        report::compare_runs(std::move(sides->first), std::move(sides->second), report::Independent::samples);
    static_cast<void>(report::compare_text(sided, names, report::Detail::summaries, report::Colour::on));
    static_cast<void>(report::compare_json(sided, names));
  }
  return 0;
}
