// message_seeds FOLDER PROGRAM…: writes each program as the request that an agent gets, and as a report that one could
// send, into FOLDER.
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "program/parser.h"
#include "run/message.h"

namespace {

using namespace faultline;

/// A row of samples and a check for every statement, so that a report has something of everything.
run::Report sample_report(const program::Program& program) {
  run::Report report;
  report.machine = "live";
  report.kernel = "Linux 6.18.44 (x86-64)";
  report.notes = {"the clock was calibrated"};
  report.ending = run::Ending::signal;
  report.signal = Signal{kSigSegv, kSegvAccErr, Addr{0x7f0000000000}};
  for (const program::Statement& statement : program.body) {
    run::Row row;
    row.line = statement.position.line;
    row.text = statement.text;
    row.calls = row.counted_calls = 2;
    row.metric = run::Metric::nanoseconds;
    row.samples = {100.5, 101};
    row.before = {.vmas = 1, .present = 32, .writable = 0, .huge = {}};
    report.rows.push_back(std::move(row));
    report.checks.push_back({statement.position, statement.text, run::CheckStatus::failed, 2, "returned 1"});
  }
  return report;
}

bool write(const std::filesystem::path& path, std::string_view bytes) {
  std::ofstream file(path, std::ios::binary);
  return static_cast<bool>(file.write(bytes.data(), static_cast<std::streamsize>(bytes.size())).flush());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::cerr << "usage: message_seeds FOLDER PROGRAM…\n";
    return 2;
  }
  const std::filesystem::path folder = argv[1];
  for (int i = 2; i < argc; ++i) {
    const std::filesystem::path path = argv[i];
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    const auto program = program::parse(text.view(), path.filename());
    if (!program) {
      std::cerr << render(program.error());
      return 1;
    }
    const std::string request =
        run::encode_request({"live", "x86-64", "6.18.44", ""}, *program, {{"pages", 32}}, 60'000);
    if (!write(folder / (path.stem().string() + ".request"), request) ||
        !write(folder / (path.stem().string() + ".report"), run::encode(sample_report(*program)))) {
      std::cerr << "cannot write to " << folder << '\n';
      return 1;
    }
  }
  return 0;
}
