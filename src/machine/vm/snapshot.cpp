#include "machine/vm/snapshot.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>
#include <vector>

#include "machine/vm/archive.h"
#include "machine/vm/cache.h"
#include "machine/vm/functions.h"
#include "machine/vm/qmp.h"
#include "run/message.h"

namespace faultline::machine::vm {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// Raised when the files of a snapshot change.
constexpr int kFormat = 5;

/// Snapshots of kernels, boards and agents that have not been used for long give way.
constexpr std::size_t kMostSnapshots = 32;

std::expected<std::string, std::string> identity(const fs::path& file) {
  struct stat about{};
  if (stat(file.c_str(), &about) != 0) {
    return std::unexpected(fmt::format("{}: {}", file.string(), std::strerror(errno)));
  }
  return fmt::format("{} {} {}.{}", file.string(), about.st_size, about.st_mtim.tv_sec, about.st_mtim.tv_nsec);
}

std::expected<std::string, std::string> key_of(const Guest& guest, std::string_view agent) {
  const auto kernel = identity(guest.kernel);
  if (!kernel) return std::unexpected(kernel.error());
  const std::string program = find_program(guest.program());
  std::string key = fmt::format("{} {} {}\n{}\n{}\n", kFormat, run::kProtocolVersion, *kernel, fingerprint(agent),
                                identity(program).value_or(""));
  for (const std::string& word : guest.board()) key += word + "\n";
  return fingerprint(key);
}

/// Held by who boots; freed by the kernel when the process ends.
class Lock {
 public:
  explicit Lock(const fs::path& file) : file_(open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)) {
    while (file_.is_open() && flock(file_.get(), LOCK_EX) != 0 && errno == EINTR) {
    }
  }

 private:
  Descriptor file_;
};

/// Nothing when it is not there, or not whole.
std::optional<Snapshot> load(const fs::path& folder, const Guest& guest) {
  const auto text = read_whole(folder / "about.json");
  if (!text) return std::nullopt;
  const json about = json::parse(*text, nullptr, false);
  if (!about.is_object()) return std::nullopt;
  // QEMU maps the memory privately, but wants to be allowed to write.
  Snapshot snapshot{Descriptor(open((folder / "memory").c_str(), O_RDWR | O_CLOEXEC)),
                    Descriptor(open((folder / "state").c_str(), O_RDONLY | O_CLOEXEC)),
                    guest,
                    folder / "functions",
                    folder / "entries",
                    false,
                    about.value("release", ""),
                    about.value("version", "")};
  snapshot.guest.initrd = folder / "initrd";
  struct stat memory{};
  if (!snapshot.state.is_open() || !snapshot.memory.is_open()) return std::nullopt;
  if (fstat(snapshot.memory.get(), &memory) != 0) return std::nullopt;
  if (static_cast<std::uint64_t>(memory.st_size) != guest.memory_bytes()) return std::nullopt;
  const auto state = read_whole(folder / "state");
  if (!state || fingerprint(*state) != about.value("state", "")) return std::nullopt;
  std::error_code error;
  fs::last_write_time(folder / "about.json", fs::file_time_type::clock::now(), error);
  return snapshot;
}

void remove_least_used(const fs::path& folder) {
  std::vector<std::pair<fs::file_time_type, fs::path>> snapshots;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    const auto used = fs::last_write_time(entry.path() / "about.json", error);
    if (!error) snapshots.emplace_back(used, entry.path());
  }
  std::ranges::sort(snapshots);
  for (std::size_t i = 0; i + kMostSnapshots < snapshots.size(); ++i) fs::remove_all(snapshots[i].second, error);
}

std::string with_console(std::string text, const std::string& console) {
  if (console.empty()) return text;
  return text + "\nThe console's last lines:\n" + console;
}

std::string boot_failure(Qemu& qemu, run::ReadFault fault, std::chrono::milliseconds limit) {
  std::string text;
  if (fault == run::ReadFault::timeout) {
    text = fmt::format("the kernel did not boot within {} s", limit.count() / 1000);
  } else if (const auto ended = qemu.ended()) {
    text = *ended + " before the kernel had booted";
  } else {
    text = "the agent in the booted kernel does not speak";
  }
  return with_console(std::move(text), qemu.console());
}

std::expected<void, std::string> write_all(const fs::path& folder,
                                           std::initializer_list<std::pair<const char*, std::string_view>> files) {
  for (const auto& [name, content] : files) {
    if (auto written = write_whole(folder / name, content); !written) return written;
  }
  return {};
}

/// Boots, and fills the folder.
std::expected<void, std::string> boot_into(const fs::path& folder, Guest guest, std::string_view agent,
                                           std::chrono::milliseconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  const auto initrd = make_initrd(agent);
  if (!initrd) return std::unexpected(initrd.error());
  guest.initrd = folder / "initrd";
  if (auto written = write_whole(guest.initrd, *initrd); !written) return written;
  const Descriptor state(open((folder / "state").c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!state.is_open()) return std::unexpected((folder / "state").string() + ": " + std::strerror(errno));

  const Descriptor memory(memfd_create("memory", MFD_CLOEXEC));
  if (!memory.is_open()) return std::unexpected(std::string("memfd_create: ") + std::strerror(errno));
  Task task;
  task.memory = memory.get();
  auto qemu = Qemu::start(guest, task);
  if (!qemu) return std::unexpected(qemu.error());
  const auto hello = qemu->message(deadline);
  if (!hello) return std::unexpected(boot_failure(*qemu, hello.error(), limit));
  std::string functions;
  for (bool more = true; more;) {
    const auto part = qemu->message(deadline);
    if (!part) return std::unexpected(boot_failure(*qemu, part.error(), limit));
    functions += *part;
    more = !part->empty();
  }
  const auto ready = qemu->message(deadline);
  if (!ready) return std::unexpected(boot_failure(*qemu, ready.error(), limit));
  const Stops stops = *ready == "halts" ? Stops::by_itself : Stops::when_saved;
  if (auto saved = save_state(qemu->monitor(), state.get(), stops, deadline); !saved) return saved;
  if (auto copied = copy_sparse(memory.get(), folder / "memory"); !copied) return copied;
  const auto written = read_whole(folder / "state");
  if (!written) return std::unexpected(written.error());
  const std::size_t line = hello->find('\n');
  const json about{
      {"state", fingerprint(*written)},
      {"release", hello->substr(0, line)},
      {"version", line < hello->size() ? hello->substr(line + 1, hello->find('\n', line + 1) - line - 1) : ""}};
  const FunctionFiles files = function_files(functions, guest.arch);
  return write_all(folder,
                   {{"functions", files.all}, {"entries", files.entries}, {"about.json", about.dump(2) + "\n"}});
}

}  // namespace

std::expected<Snapshot, std::string> take_snapshot(const Guest& guest, std::chrono::milliseconds boot_limit) {
  const auto agent_file = find_guest_agent(guest.arch);
  if (!agent_file) return std::unexpected(agent_file.error());
  const auto agent = read_whole(*agent_file);
  if (!agent) return std::unexpected(agent.error());
  const auto key = key_of(guest, *agent);
  if (!key) return std::unexpected(key.error());
  const auto cache = cache_folder();
  if (!cache) return std::unexpected(cache.error());
  const fs::path all = *cache / "snapshots";
  if (const auto made = make_folder(all); !made) return std::unexpected(made.error());
  const fs::path folder = all / *key;
  if (auto kept = load(folder, guest)) return std::move(*kept);

  const Lock lock(all / (*key + ".lock"));
  if (auto kept = load(folder, guest)) return std::move(*kept);
  const fs::path unfinished = folder.string() + ".new";
  std::error_code error;
  const bool replaced = fs::exists(folder, error);
  fs::remove_all(unfinished, error);
  if (const auto made = make_folder(unfinished); !made) return std::unexpected(made.error());
  auto booted = boot_into(unfinished, guest, *agent, boot_limit);
  if (booted) {
    fs::remove_all(folder, error);
    fs::rename(unfinished, folder, error);
    if (error) booted = std::unexpected(folder.string() + ": " + error.message());
  }
  if (!booted) {
    fs::remove_all(unfinished, error);
    return std::unexpected(booted.error());
  }
  remove_least_used(all);
  if (auto made = load(folder, guest)) {
    made->replaced = replaced;
    return std::move(*made);
  }
  return std::unexpected(folder.string() + ": the snapshot that was just made is gone");
}

}  // namespace faultline::machine::vm
