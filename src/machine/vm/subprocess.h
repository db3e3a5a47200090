#pragma once

#include <sys/types.h>

#include <expected>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace faultline::machine::vm {

/// A file descriptor that closes with its owner.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept;
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor() { reset(); }
  int get() const { return number_; }
  bool is_open() const { return number_ >= 0; }
  void reset(int number = -1);

 private:
  int number_;
};

/// The error of the call that just failed: "WHAT: No such file or directory".
std::unexpected<std::string> system_error(std::string_view what);

/// Writes all of it. False where that fails, with errno set.
bool write_all(int file, std::string_view content);

struct PipeEnds {
  Descriptor read_end;
  Descriptor write_end;
};
std::expected<PipeEnds, std::string> make_pipe();

/// A child gets `number` as its descriptor `as`; at most kMostPassed of them.
inline constexpr std::size_t kMostPassed = 12;
struct Passed {
  int number = -1;
  int as = -1;
};

/// Starts a program found on PATH, with /dev/null as its input and only these descriptors besides; it gets SIGKILL when
/// the thread that started it ends. It runs in `folder`, or where this process does. The error names the program.
std::expected<pid_t, std::string> spawn(const std::vector<std::string>& command, const std::vector<Passed>& passed,
                                        const std::string& folder = {});

struct Finished {
  int status = 0;      // as a shell has it: 128 + the signal's number for one that was killed
  std::string output;  // standard output
  std::string errors;  // standard error
};

/// Runs a program to its end. `line` hears each whole line that it writes to descriptor 3.
std::expected<Finished, std::string> run_command(const std::vector<std::string>& command,
                                                 const std::function<void(std::string_view)>& line = {},
                                                 const std::string& folder = {});

/// Where PATH has the program; empty when it has not.
std::string find_program(std::string_view name);

}  // namespace faultline::machine::vm
