// The language: any text parses or fails at a place in it, and what parses survives printing.
#include "program/parser.h"

#include <cstdint>
#include <string>

#include "error_place.h"
#include "program/equal.h"
#include "program/printer.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace faultline;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto program = program::parse(text, "fuzzed.fl");
  if (!program) {
    fuzz::holds_in(text, program.error());
    return 0;
  }
  const std::string printed = program::print(*program);
  const auto again = program::parse(printed, "printed.fl");
  fuzz::holds(again.has_value(), "what print() gives is a program", printed);
  fuzz::holds(program::equal(*program, *again), "parsing what print() gives makes an equal program", printed);
  fuzz::holds(program::print(*again) == printed, "printing is stable", printed);
  return 0;
}
