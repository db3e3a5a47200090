#include "record/recorder.h"

#include <elf.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>

#include "machine/agent_process.h"
#include "machine/vm/subprocess.h"
#include "record/format.h"
#include "record/native.h"
#include "record/writer.h"

namespace faultline::record {
namespace {

namespace fs = std::filesystem;
using machine::vm::Descriptor;
using machine::vm::find_program;

/// What has to be run, and by which QEMU.
struct Emulation {
  std::string qemu;
  std::vector<std::string> options;
  std::vector<std::string> command;
};

std::string first_bytes(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  std::array<char, 256> bytes{};
  stream.read(bytes.data(), bytes.size());
  return {bytes.data(), static_cast<std::size_t>(stream.gcount())};
}

/// A script's interpreter stands before it, as execve(2) has it.
std::expected<Emulation, std::string> emulation_of(std::vector<std::string> command) {
  constexpr int kMostInterpreters = 5;
  for (int i = 0; i < kMostInterpreters; ++i) {
    std::string& program = command.front();
    const std::string found = program.find('/') == std::string::npos ? find_program(program) : program;
    if (found.empty() || access(found.c_str(), X_OK) != 0) {
      return std::unexpected(program + ": " + (found.empty() ? "not found on PATH" : std::strerror(errno)));
    }
    const std::string begin = first_bytes(found);
    if (begin.starts_with("#!")) {
      const std::string line = begin.substr(2, begin.find('\n') - 2);
      const std::size_t name = line.find_first_not_of(" \t");
      if (name == std::string::npos) return std::unexpected(found + ": its first line names no interpreter");
      const std::size_t end = line.find_first_of(" \t", name);
      std::vector<std::string> longer{line.substr(name, end == std::string::npos ? end : end - name)};
      if (const std::size_t rest = line.find_first_not_of(" \t", end);
          end != std::string::npos && rest != std::string::npos) {
        longer.push_back(line.substr(rest, line.find_last_not_of(" \t") - rest + 1));
      }
      longer.push_back(found);
      longer.insert(longer.end(), command.begin() + 1, command.end());
      command = std::move(longer);
      continue;
    }
    program = found;
    if (begin.size() < sizeof(Elf64_Ehdr) || !begin.starts_with(ELFMAG) || begin[EI_CLASS] != ELFCLASS64) {
      return std::unexpected(found + ": expected a 64-bit ELF program or a script");
    }
    Elf64_Ehdr header{};
    std::memcpy(&header, begin.data(), sizeof header);
    Emulation emulation;
    if (header.e_machine == EM_X86_64) {
      emulation.qemu = "qemu-x86_64";
    } else if (header.e_machine == EM_AARCH64) {
      emulation.qemu = "qemu-aarch64";
      // Where Debian's cross compilers have the libraries of such programs.
      constexpr std::string_view kLibraries = "/usr/aarch64-linux-gnu";
      std::error_code error;
      if (fs::is_directory(kLibraries, error)) emulation.options = {"-L", std::string(kLibraries)};
    } else {
      return std::unexpected(found + ": expected a program for x86-64 or arm64");
    }
    if (find_program(emulation.qemu).empty()) {
      return std::unexpected(emulation.qemu + " is not installed; `scripts/install-deps.sh record` installs it");
    }
    emulation.command = std::move(command);
    return emulation;
  }
  return std::unexpected(command.front() + ": too many interpreters of interpreters");
}

std::expected<std::string, std::string> find_plugin() {
  const auto agent = machine::find_agent();
  if (!agent) return std::unexpected(agent.error());
  const fs::path plugin = agent->parent_path() / "faultline-recorder.so";
  std::error_code error;
  if (!fs::exists(plugin, error)) {
    return std::unexpected(plugin.string() + " is missing; build the target faultline-recorder");
  }
  return plugin.string();
}

/// A folder of its own for the pipe, gone with it.
class PipeFolder {
 public:
  PipeFolder() {
    const char* temporary = std::getenv("TMPDIR");
    std::string name =
        std::string(temporary != nullptr && *temporary != '\0' ? temporary : "/tmp") + "/faultline-XXXXXX";
    if (mkdtemp(name.data()) == nullptr) return;
    folder_ = name;
    if (mkfifo(pipe().c_str(), 0600) != 0) error_ = std::strerror(errno);
  }
  ~PipeFolder() {
    std::error_code error;
    if (!folder_.empty()) fs::remove_all(folder_, error);
  }
  PipeFolder(const PipeFolder&) = delete;
  PipeFolder& operator=(const PipeFolder&) = delete;
  bool usable() const { return !folder_.empty() && error_.empty(); }
  std::string pipe() const { return folder_ + "/records"; }

 private:
  std::string folder_;
  std::string error_;
};

/// Takes chunks out of the pipe. No more than what a pipe holds is waiting here.
class Collector {
 public:
  Collector(int pipe, Writer& writer) : pipe_(pipe), writer_(writer) {}

  enum class State : std::uint8_t { waiting, nobody_writes };
  /// Reads what is there.
  State read_some() {
    std::array<char, 65536> buffer{};
    for (;;) {
      const ssize_t got = read(pipe_, buffer.data(), buffer.size());
      if (got < 0 && errno == EINTR) continue;
      if (got == 0) return State::nobody_writes;
      if (got < 0) return State::waiting;
      pending_.append(buffer.data(), static_cast<std::size_t>(got));
      hand_on();
    }
  }

 private:
  void hand_on() {
    std::size_t at = 0;
    while (pending_.size() - at >= kChunkHeader) {
      std::uint32_t length = 0;
      std::uint32_t pid = 0;
      std::memcpy(&length, pending_.data() + at, sizeof length);
      std::memcpy(&pid, pending_.data() + at + 4, sizeof pid);
      if (pending_.size() - at - kChunkHeader < length) break;
      writer_.add(pid, std::string_view(pending_).substr(at + kChunkHeader, length));
      at += kChunkHeader + length;
    }
    pending_.erase(0, at);
  }

  int pipe_;
  Writer& writer_;
  std::string pending_;
};

int shell_status(int status) { return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status); }

std::expected<pid_t, std::string> start(const Emulation& emulation, const std::string& plugin, const std::string& pipe,
                                        std::uint64_t again) {
  std::string argument = plugin + ",pipe=" + pipe;
  if (again > 0) argument += ",again=" + std::to_string(again);
  std::vector<std::string> words{emulation.qemu, "-plugin", std::move(argument)};
  words.insert(words.end(), emulation.options.begin(), emulation.options.end());
  words.insert(words.end(), emulation.command.begin(), emulation.command.end());
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t pid = -1;
  const int failed = posix_spawnp(&pid, emulation.qemu.c_str(), nullptr, nullptr, arguments.data(), environ);
  if (failed != 0) return std::unexpected(emulation.qemu + ": " + std::strerror(failed));
  return pid;
}

/// The terminal sends its signals to the command as well: what it makes of them decides.
class IgnoredSignals {
 public:
  IgnoredSignals() {
    struct sigaction ignore{};
    ignore.sa_handler = SIG_IGN;
    sigaction(SIGINT, &ignore, &interrupt_);
    sigaction(SIGQUIT, &ignore, &quit_);
  }
  ~IgnoredSignals() {
    sigaction(SIGINT, &interrupt_, nullptr);
    sigaction(SIGQUIT, &quit_, nullptr);
  }
  IgnoredSignals(const IgnoredSignals&) = delete;
  IgnoredSignals& operator=(const IgnoredSignals&) = delete;

 private:
  struct sigaction interrupt_{};
  struct sigaction quit_{};
};

}  // namespace

std::expected<void, std::string> can_record(const std::string& program) {
  if (const auto plugin = find_plugin(); !plugin) return std::unexpected(plugin.error());
  if (const auto emulation = emulation_of({program}); !emulation) return std::unexpected(emulation.error());
  return {};
}

std::expected<Recorded, std::string> record_command(const std::vector<std::string>& command, int output,
                                                    const RecordingOptions& options) {
  const auto plugin = find_plugin();
  if (!plugin) return std::unexpected(plugin.error());
  const auto emulation = emulation_of(command);
  if (!emulation) return std::unexpected(emulation.error());
  const PipeFolder folder;
  if (!folder.usable()) return std::unexpected(std::string("no pipe for the records: ") + std::strerror(errno));
  const Descriptor pipe(open(folder.pipe().c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (!pipe.is_open()) return std::unexpected("no pipe for the records: " + std::string(std::strerror(errno)));

  Writer writer(output);
  Collector collector(pipe.get(), writer);
  const auto child = start(*emulation, *plugin, folder.pipe(), options.again);
  if (!child) return std::unexpected(child.error());
  const IgnoredSignals ignored;
  std::optional<int> status;
  for (;;) {
    pollfd waited{pipe.get(), POLLIN, 0};
    constexpr int kMilliseconds = 100;
    const int ready = poll(&waited, 1, kMilliseconds);
    const bool ended = status.has_value();
    const auto state = collector.read_some();
    // A recording that is read while it is made, or whose recorder is killed, lacks little.
    if (ready == 0) writer.flush();
    if (ended && state == Collector::State::nobody_writes) break;
    int wait_status = 0;
    if (!status && waitpid(*child, &wait_status, WNOHANG) == *child) status = shell_status(wait_status);
    if (state == Collector::State::nobody_writes && !status) {
      // Before the command has opened the pipe; poll would not wait.
      constexpr useconds_t kMicroseconds = 1000;
      usleep(kMicroseconds);
    }
  }
  if (options.natively == Natively::yes) {
    const auto native = run_natively(emulation->command);
    if (!native) return std::unexpected(native.error());
    writer.add(0, native_record(*native));
  }
  writer.close();
  if (writer.error()) return std::unexpected("the recording could not be written: " + *writer.error());
  return Recorded{*status, writer.written()};
}

}  // namespace faultline::record
