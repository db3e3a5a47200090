#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

/// Runs the built `faultline` as a person does, in a folder of its own.
namespace faultline::cli {

struct Outcome {
  int status = -1;  // the exit status, or 128 + the signal that killed it, as shells say it
  std::string out;
  std::string err;
};

/// A folder for one test, gone with it.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::filesystem::path path(std::string_view name) const { return root_ / name; }
  /// Writes a file and returns its path.
  std::string file(std::string_view name, std::string_view content) const;

  /// Runs the command with standard input empty, and without NO_COLOR.
  Outcome run(const std::vector<std::string>& arguments) const;

  /// The same on a pseudo-terminal; output and errors arrive together in `out`. `environment` is added: "NO_COLOR=1".
  Outcome run_on_terminal(const std::vector<std::string>& arguments, const std::string& environment = {}) const;

  /// Starts the command, sends SIGINT after its first output line or `milliseconds`, and waits.
  Outcome interrupt(const std::vector<std::string>& arguments, unsigned milliseconds) const;

 private:
  std::filesystem::path root_;
};

std::string read_file(const std::filesystem::path& path);

}  // namespace faultline::cli
