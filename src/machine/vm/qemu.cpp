#include "machine/vm/qemu.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <system_error>
#include <utility>

#include "machine/agent_process.h"
#include "machine/vm/hmp.h"

namespace faultline::machine::vm {
namespace {

namespace fs = std::filesystem;

// The descriptors that QEMU and the plugin find.
constexpr int kMessages = 10;
constexpr int kRecords = 11;
constexpr int kProfile = 12;
constexpr int kMonitor = 13;
constexpr int kRequest = 14;
constexpr int kIncoming = 15;
constexpr int kMemory = 16;

std::expected<Descriptor, std::string> make_memory_file(const char* name, std::string_view content = {}) {
  Descriptor file(memfd_create(name, MFD_CLOEXEC));
  if (!file.is_open()) return system_error("memfd_create");
  if (!write_all(file.get(), content)) return system_error("writing the request");
  return file;
}

/// All of a file that someone else writes through the same open file: its offset stays as it is.
template <class T>
std::vector<T> read_records(int file) {
  struct stat about{};
  if (file < 0 || fstat(file, &about) != 0) return {};
  std::vector<T> records(static_cast<std::size_t>(about.st_size) / sizeof(T));
  std::size_t done = 0;
  const std::size_t bytes = records.size() * sizeof(T);
  while (done < bytes) {
    const ssize_t got =
        pread(file, reinterpret_cast<char*>(records.data()) + done, bytes - done, static_cast<off_t>(done));
    if (got <= 0) break;
    done += static_cast<std::size_t>(got);
  }
  records.resize(done / sizeof(T));
  return records;
}

/// QEMU takes a comma as the end of a value unless it is doubled.
std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) result.append(c == ',' ? 2 : 1, c);
  return result;
}

std::string kernel_arguments(const Guest& guest) {
  std::string arguments = guest.arch == arch::Arch::arm64 ? "console=ttyAMA0" : "console=ttyS0";
  // The last one lets the agent look at what a program hides by PROT_NONE.
  arguments += " quiet panic=-1 mitigations=off nokaslr norandmaps vdso=0 proc_mem.force_override=always";
  if (guest.purpose == Purpose::playing_cases) arguments += " init_on_alloc=0";
  if (guest.overcommit != mm::Overcommit::heuristic) {
    arguments += fmt::format(" sysctl.vm.overcommit_memory={}", std::to_underlying(guest.overcommit));
  }
  return arguments;
}

void add(std::vector<std::string>& command, std::initializer_list<std::string_view> words) {
  for (const std::string_view word : words) command.emplace_back(word);
}

std::vector<std::string> command_of(const Guest& guest, const Task& task, const fs::path& plugin) {
  std::vector<std::string> command{guest.program()};
  for (std::string& word : guest.board()) command.push_back(std::move(word));
  add(command, {"-kernel", guest.kernel.string(), "-initrd", guest.initrd.string()});
  add(command, {"-chardev", "stdio,id=console,signal=off", "-serial", "chardev:console"});
  const bool boots = task.incoming < 0;
  // The monitor of control has a thread of its own, which every timer of the guest would wake.
  add(command, {"-chardev", fmt::format("socket,id=monitor,fd={}", kMonitor), "-mon",
                boots ? "chardev=monitor,mode=control" : "chardev=monitor,mode=readline"});
  if (!boots) add(command, {"-incoming", "defer"});
  add(command, {"-object", fmt::format("memory-backend-file,id=memory,mem-path=/proc/self/fd/{},size={},share={}",
                                       kMemory, guest.memory_bytes(), boots ? "on" : "off")});
  add(command, {"-fw_cfg", fmt::format("name=opt/faultline/request,file=/proc/self/fd/{}", kRequest)});
  std::string loaded = fmt::format("file={},messages={},records={}", escaped(plugin.string()), kMessages, kRecords);
  if (!task.symbols.empty()) loaded += ",symbols=" + escaped(task.symbols.string());
  if (task.counts == Counts::nothing) loaded += ",counts=nothing";
  if (task.counts == Counts::functions) loaded += fmt::format(",profile={}", kProfile);
  add(command, {"-plugin", loaded});
  return command;
}

std::expected<fs::path, std::string> beside_agent(const char* name, const char* target) {
  const auto agent = find_agent();
  if (!agent) return std::unexpected(agent.error());
  fs::path file = agent->parent_path() / name;
  if (access(file.c_str(), R_OK) == 0) return file;
  return std::unexpected(
      fmt::format("{} is not in {}; build the target {}", name, agent->parent_path().string(), target));
}

}  // namespace

std::string Guest::program() const { return arch == arch::Arch::arm64 ? "qemu-system-aarch64" : "qemu-system-x86_64"; }

std::vector<std::string> Guest::board() const {
  std::vector<std::string> words;
  if (arch == arch::Arch::arm64) {
    add(words, {"-M", "virt,memory-backend=memory", "-cpu", "max,pauth-impdef=on"});
  } else {
    const bool plays = purpose == Purpose::playing_cases;
    add(words, {"-M", "q35,memory-backend=memory", "-cpu", plays ? "max,-erms,-fsrm" : "max"});
  }
  add(words, {"-smp", std::to_string(cpus), "-m", std::to_string(memory_mb)});
  // By which the agent stops the guest where its state is to be kept; it runs on from there.
  add(words, {"-device", "pvpanic-pci", "-action", "panic=pause"});
  // One instruction is one nanosecond, and nothing waits: time is what the guest executes.
  add(words, {"-accel", "tcg", "-icount", "shift=0,sleep=off", "-rtc", "base=2026-01-01,clock=vm"});
  add(words, {"-nodefaults", "-no-user-config", "-display", "none", "-no-reboot", "-seed", "1", "-append",
              kernel_arguments(*this)});
  return words;
}

std::expected<fs::path, std::string> find_plugin() { return beside_agent("faultline-plugin.so", "faultline-plugin"); }

std::expected<fs::path, std::string> find_guest_agent(arch::Arch arch) {
#if defined(__aarch64__)
  constexpr arch::Arch kOwn = arch::Arch::arm64;
#else
  constexpr arch::Arch kOwn = arch::Arch::x86_64;
#endif
  if (arch == kOwn) return find_agent();
  return beside_agent("faultline-agent-arm64", "faultline-agent-arm64 (needs g++-aarch64-linux-gnu)");
}

std::expected<Qemu, std::string> Qemu::start(const Guest& guest, const Task& task) {
  const auto plugin = find_plugin();
  if (!plugin) return std::unexpected(plugin.error());
  if (find_program(guest.program()).empty()) {
    return std::unexpected(fmt::format("{} is not installed; on Debian: apt install {}", guest.program(),
                                       guest.arch == arch::Arch::arm64 ? "qemu-system-arm" : "qemu-system-x86"));
  }
  auto messages = make_pipe();
  if (!messages) return std::unexpected(messages.error());
  std::array<int, 2> monitor{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, monitor.data()) != 0) return system_error("socketpair");
  Qemu qemu;
  qemu.monitor_.reset(monitor[0]);
  const Descriptor other_end(monitor[1]);
  qemu.messages_ = std::move(messages->read_end);
  auto records = make_memory_file("records");
  auto profile = make_memory_file("profile");
  auto console = make_memory_file("console");
  auto request = make_memory_file("request", task.request.empty() ? "none" : task.request);
  for (const auto* made : {&records, &profile, &console, &request}) {
    if (!*made) return std::unexpected(made->error());
  }
  qemu.records_ = std::move(*records);
  qemu.profile_ = std::move(*profile);
  qemu.console_ = std::move(*console);
  std::vector<Passed> passed{{messages->write_end.get(), kMessages},
                             {qemu.records_.get(), kRecords},
                             {qemu.profile_.get(), kProfile},
                             {other_end.get(), kMonitor},
                             {request->get(), kRequest},
                             {task.memory, kMemory},
                             {qemu.console_.get(), STDOUT_FILENO},
                             {qemu.console_.get(), STDERR_FILENO}};
  if (task.incoming >= 0) {
    passed.push_back({task.incoming, kIncoming});
    order_restore(qemu.monitor_.get(), kIncoming);
  }
  const auto process = spawn(command_of(guest, task, *plugin), passed);
  if (!process) return std::unexpected(process.error());
  qemu.process_ = *process;
  if (task.incoming >= 0) continue_restored(qemu.monitor_.get());
  return qemu;
}

Qemu::Qemu(Qemu&& other) noexcept
    : process_(std::exchange(other.process_, -1)),
      status_(other.status_),
      messages_(std::move(other.messages_)),
      records_(std::move(other.records_)),
      profile_(std::move(other.profile_)),
      console_(std::move(other.console_)),
      monitor_(std::move(other.monitor_)) {}

Qemu::~Qemu() {
  if (process_ < 0 || status_) return;
  kill(process_, SIGKILL);
  while (waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

std::expected<std::string, run::ReadFault> Qemu::message(std::chrono::steady_clock::time_point deadline) {
  return run::read_frame(messages_.get(), deadline);
}

std::vector<run::WindowRecord> Qemu::records() const { return read_records<run::WindowRecord>(records_.get()); }

std::vector<CallNode> Qemu::profile() const { return read_records<CallNode>(profile_.get()); }

std::optional<std::string> Qemu::ended() {
  if (!status_) {
    // What it wrote last may be seen before its end is.
    int status = 0;
    for (int i = 0; i < 50 && !status_; ++i) {
      if (waitpid(process_, &status, WNOHANG) == process_) status_ = status;
      if (!status_) usleep(2000);
    }
  }
  if (!status_) return std::nullopt;
  if (WIFSIGNALED(*status_)) return fmt::format("QEMU was killed by signal {}", WTERMSIG(*status_));
  return fmt::format("QEMU ended with status {}", WEXITSTATUS(*status_));
}

std::string Qemu::console() const {
  constexpr std::size_t kMostBytes = 1500;
  constexpr int kMostLines = 12;
  const std::vector<char> bytes = read_records<char>(console_.get());
  std::string text(bytes.begin(), bytes.end());
  std::erase(text, '\r');
  if (text.size() > kMostBytes) text.erase(0, text.size() - kMostBytes);
  while (text.ends_with('\n')) text.pop_back();
  std::size_t start = text.size();
  for (int i = 0; i < kMostLines && start != std::string::npos && start > 0; ++i) start = text.rfind('\n', start - 1);
  return start == std::string::npos || start == 0 ? text : text.substr(start + 1);
}

}  // namespace faultline::machine::vm
