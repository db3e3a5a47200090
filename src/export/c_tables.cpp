#include "export/c_tables.h"

#include <algorithm>

#include "export/c_expression.h"

namespace faultline::exports {

std::size_t CTables::add_operation(std::uint32_t line, int measure, const std::string& title) {
  const std::size_t number = operations_.size();
  std::string figures = "-1, -1, -1";
  if (number < options_.figures.size()) {
    const CFigures& counted = options_.figures[number];
    figures = std::to_string(counted.calls) + ", " + std::to_string(counted.faults) + ", " +
              (counted.vmas ? std::to_string(*counted.vmas) : "-1");
  }
  operations_.push_back("{" + std::to_string(line) + ", " + std::to_string(measure) + ", " + c_string(title) + ", " +
                        figures + "}");
  return number;
}

int CTables::add_measure(const std::string& name, int outer) {
  measures_.push_back("{" + c_string(name) + ", " + std::to_string(outer) + "}");
  return static_cast<int>(measures_.size()) - 1;
}

std::string CTables::heading(const std::string& answers) const {
  std::string text;
  const auto comment = [&](const std::string& line) { text += "// " + line + "\n"; };
  if (!answers.empty()) comment(answers);
  comment("Made of " + options_.origin + " by faultline. To run it:");
  comment("  cc -O2 -Wall -Wextra -pthread -o reproducer reproducer.c && ./reproducer");
  comment("It prints calls, page faults (ru_minflt) and mappings of each operation" +
          (options_.machine.empty() ? "." : ", here and on " + options_.machine + "."));
  comment("Exit status: 1 where a result or an expectation does not hold.");
  return text;
}

std::string CTables::text() const {
  std::string text = "\n";
  text += options_.machine.empty() ? "#define MODEL NULL\n" : "#define MODEL " + c_string(options_.machine) + "\n";
  text += std::string("#define ANY_MEASURE ") + (measures_.empty() ? "0" : "1") + "\n";
  text += "enum { OPERATIONS = " + std::to_string(operations_.size()) +
          ", MEASURES = " + std::to_string(std::max<std::size_t>(1, measures_.size())) + " };\n";
  text += "static const struct operation operations[OPERATIONS + 1] = {\n";
  for (const std::string& row : operations_) text += "    " + row + ",\n";
  text += "    {0, -1, NULL, -1, -1, -1}};\n";
  text += "static const struct measure measures[MEASURES] = {\n";
  for (const std::string& line : measures_) text += "    " + line + ",\n";
  if (measures_.empty()) text += "    {NULL, -1},\n";
  return text + "};\n";
}

}  // namespace faultline::exports
