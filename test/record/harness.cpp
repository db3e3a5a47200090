#include "harness.h"

#include <fcntl.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <stdexcept>

#include "machine/machine.h"
#include "machine/vm/subprocess.h"
#include "mm/profile.h"
#include "record/symbols.h"
#include "report/recording_report.h"
#include "report/recording_study.h"

namespace faultline::record {
namespace {

namespace fs = std::filesystem;

struct Run {
  report::StudyFigures figures;
  run::Report report;
  std::string text;
};

Run run_on(const Import& import, std::size_t process, const std::string& profile) {
  Symbols symbols(import);
  report::RecordingStudy observer(import, symbols);
  run::Report report =
      machine::explain(*mm::parse_profile(profile), import.processes[process].program, {}, observer, observer);
  const std::string text = report::recording_text({import, import.processes[process], observer.figures(), report, 0},
                                                  {}, 50, report::Colour::off);
  return {observer.figures(), std::move(report), text};
}

}  // namespace

std::string read_file(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

CompiledProgram::CompiledProgram(const std::string& name, const Compiler& compiler) {
  std::string folder = fs::temp_directory_path() / "faultline-test-XXXXXX";
  if (mkdtemp(folder.data()) == nullptr) throw std::runtime_error("no temporary folder");
  folder_ = folder;
  if (machine::vm::find_program(compiler.command).empty()) {
    why_not_ = compiler.command + " is not installed";
    return;
  }
  std::vector<std::string> command{compiler.command, "-O1", "-g", "-pthread"};
  command.insert(command.end(), compiler.options.begin(), compiler.options.end());
  command.insert(command.end(), {std::string(FAULTLINE_RECORDED_PROGRAMS) + "/" + name + ".c", "-o", path()});
  const auto compiled = machine::vm::run_command(command);
  if (!compiled || compiled->status != 0) {
    throw std::runtime_error(name + ".c: " + (compiled ? compiled->errors : compiled.error()));
  }
  if (const auto able = can_record(path()); !able) why_not_ = able.error();
}

CompiledProgram::~CompiledProgram() {
  std::error_code error;
  fs::remove_all(folder_, error);
}

CompiledProgram::Result CompiledProgram::record(std::vector<std::string> arguments,
                                                const RecordingOptions& options) const {
  arguments.insert(arguments.begin(), path());
  const fs::path file = folder_ / "recording";
  const machine::vm::Descriptor output(open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  const auto recorded = record_command(arguments, output.get(), options);
  if (!recorded) throw std::runtime_error(recorded.error());
  std::string bytes = read_file(file);
  auto import = import_recording(bytes, "test.rec");
  if (!import) throw std::runtime_error(import.error());
  return {*recorded, std::move(bytes), std::move(*import)};
}

std::uint64_t CompiledProgram::native_faults(std::vector<std::string> arguments) const {
  arguments.insert(arguments.begin(), path());
  std::vector<char*> words;
  for (std::string& argument : arguments) words.push_back(argument.data());
  words.push_back(nullptr);
  // vfork: a fork's own copies would count as the program's.
  const pid_t child = vfork();
  if (child == 0) {
    // Random addresses make the count differ from run to run.
    personality(ADDR_NO_RANDOMIZE);
    execv(words[0], words.data());
    _exit(127);
  }
  int status = 0;
  rusage usage{};
  if (child < 0 || wait4(child, &status, 0, &usage) != child) throw std::runtime_error("the program did not run");
  // A file that was not in the page cache yet is a major fault, and would have been a minor one.
  return static_cast<std::uint64_t>(usage.ru_minflt + usage.ru_majflt);
}

Studied study(const Import& import, std::size_t process, const std::string& profile) {
  const Run run = run_on(import, process, profile);
  Studied studied;
  studied.faults = run.figures.counted[Counter::minor_faults];
  studied.reused = run.figures.counted[Counter::fault_reuse];
  studied.copied = run.figures.counted[Counter::fault_copy];
  studied.ending = run.report.ending;
  studied.text = run.text;
  for (const run::Check& check : run.report.checks) {
    if (check.status == run::CheckStatus::failed) studied.differences.push_back(check.text + ": " + check.detail);
  }
  return studied;
}

std::vector<std::string> differences_live(const Import& import, std::size_t process) {
  const auto live = machine::make_machine("live");
  if (!live) throw std::runtime_error(live.error());
  const run::Report report = (*live)->run(import.processes[process].program, {});
  std::vector<std::string> differences;
  if (report.ending != run::Ending::completed) differences.push_back("it did not complete: " + report.detail);
  for (const run::Check& check : report.checks) {
    if (check.status == run::CheckStatus::failed) differences.push_back(check.text + ": " + check.detail);
  }
  return differences;
}

std::uint64_t faults_at(const Import& import, std::size_t process, const std::string& profile,
                        const std::string& site) {
  std::uint64_t faults = 0;
  for (const auto& [place, counted] : run_on(import, process, profile).figures.faults) {
    if (place.site == site) faults += counted[Counter::minor_faults];
  }
  return faults;
}

std::string data_of(const Import& import, std::size_t process, const std::string& name, report::Question question) {
  const mm::Profile profile = *mm::parse_profile(name);
  const machine::Settings settings;
  Symbols symbols(import);
  report::RecordingStudy study(import, symbols);
  machine::explain(profile, import.processes[process].program, settings, study, study);
  const report::Subject subject{import, process, profile, settings, symbols};
  return report::table_csv(report::answer(question, subject, study.figures(), {}).data);
}

}  // namespace faultline::record
