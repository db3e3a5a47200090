#pragma once

#include <cstdint>
#include <expected>
#include <filesystem>
#include <string>
#include <vector>

#include "record/import.h"
#include "record/recorder.h"
#include "report/question.h"
#include "run/row.h"

/// Compiles programs, records them, and runs the recordings.
namespace faultline::record {

struct Compiler {
  std::string command = "cc";
  std::vector<std::string> options;
};

/// A program of programs/, compiled when the test runs; gone with it.
class CompiledProgram {
 public:
  /// `why_not` says what is missing on this machine.
  CompiledProgram(const std::string& name, const Compiler& compiler = {});
  ~CompiledProgram();
  CompiledProgram(const CompiledProgram&) = delete;
  CompiledProgram& operator=(const CompiledProgram&) = delete;

  std::string path() const { return folder_ / "program"; }
  const std::string& why_not() const { return why_not_; }

  struct Result {
    Recorded recorded;
    std::string bytes;
    Import import;
  };
  /// What stands in the way is thrown.
  Result record(std::vector<std::string> arguments = {}, const RecordingOptions& options = {}) const;
  /// The same program without QEMU: its own page faults and those of the children that it waited for.
  std::uint64_t native_faults(std::vector<std::string> arguments = {}) const;

 private:
  std::filesystem::path folder_;
  std::string why_not_;
};

/// What a model's run of a recording's process shows, without the import's own statements.
struct Studied {
  std::uint64_t faults = 0;  // ru_minflt
  std::uint64_t reused = 0;  // write upgrades
  std::uint64_t copied = 0;  // copies
  std::vector<std::string> differences;
  run::Ending ending = run::Ending::failed;
  std::string text;  // as `faultline report` prints it
};
Studied study(const Import& import, std::size_t process, const std::string& profile);

/// The results that a run of the recording's process on this machine's kernel does not have.
std::vector<std::string> differences_live(const Import& import, std::size_t process);

/// Write upgrades, or other faults, by where the program took them.
std::uint64_t faults_at(const Import& import, std::size_t process, const std::string& profile, const std::string& site);

/// The data of one answer, as CSV.
std::string data_of(const Import& import, std::size_t process, const std::string& profile, report::Question question);

std::string read_file(const std::filesystem::path& path);

}  // namespace faultline::record
