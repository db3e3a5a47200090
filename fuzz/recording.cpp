// Recordings: any bytes fail with a reason or become programs that survive printing. The bytes come once as a file, and
// once as the records of a frame whose sum is right, which random bytes would never be.
#include <cstdint>
#include <string>
#include <string_view>

#include "holds.h"
#include "program/equal.h"
#include "program/parser.h"
#include "program/printer.h"
#include "record/import.h"
#include "record/writer.h"

namespace {

using namespace faultline;

void read(std::string_view bytes) {
  const auto import = record::import_recording(bytes, "fuzzed.rec");
  if (!import) {
    fuzz::holds(!import.error().empty(), "a refusal has a reason");
    return;
  }
  fuzz::holds(!import->processes.empty(), "an import has a process");
  for (const record::RecordedProcess& process : import->processes) {
    const std::string printed = program::print(process.program);
    const auto again = program::parse(printed, "printed.fl");
    fuzz::holds(again.has_value(), "what print() gives is a program", printed);
    fuzz::holds(program::equal(process.program, *again), "parsing what print() gives makes an equal program", printed);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  read(bytes);
  if (size <= record::kLongestFrame) {
    read(record::recording_header() + record::recording_frame(bytes) + record::recording_frame({}));
  }
  return 0;
}
