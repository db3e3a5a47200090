// Logs of strace: any text becomes programs or fails at a place in it, and the programs survive printing.
#include "program/strace.h"

#include <cstdint>
#include <string>

#include "error_place.h"
#include "program/equal.h"
#include "program/parser.h"
#include "program/printer.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace faultline;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  static_cast<void>(program::looks_like_strace(text));
  const auto import = program::import_strace(text, "fuzzed.log");
  if (!import) {
    fuzz::holds_in(text, import.error());
    return 0;
  }
  fuzz::holds(!import->processes.empty(), "an import has a process");
  for (std::size_t i = 0; i < import->processes.size(); ++i) {
    const program::StraceProcess& process = import->processes[i];
    const std::string printed = program::print(process.program);
    const auto again = program::parse(printed, "printed.fl");
    fuzz::holds(again.has_value(), "what print() gives is a program", printed);
    fuzz::holds(program::equal(process.program, *again), "parsing what print() gives makes an equal program", printed);
    fuzz::holds(import->others(i).empty() == (import->processes.size() == 1), "the others are named where there are");
  }
  return 0;
}
