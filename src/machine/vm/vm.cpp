#include "machine/vm/vm.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "machine/vm/cache.h"
#include "machine/vm/counted.h"
#include "machine/vm/functions.h"
#include "machine/vm/kernel_store.h"
#include "machine/vm/snapshot.h"
#include "machine/vm/vm_name.h"
#include "run/message.h"
#include "run/params.h"

namespace faultline::machine::vm {
namespace {

namespace fs = std::filesystem;

/// What a boot may take: some seconds on an idle machine, minutes on one that is overloaded.
constexpr std::chrono::seconds kBootLimit{300};
/// What restoring, and sending the report, may take beyond the program's own time.
constexpr std::chrono::seconds kGrace{30};
/// The guest's time is its instructions, a billion a second; QEMU executes some hundred millions.
constexpr int kSlowdown = 4;
/// Of guest time: a case takes some milliseconds, or hangs.
constexpr std::chrono::milliseconds kCaseLimit{5000};
/// Restoring the guest takes as long as some dozens of cases.
constexpr std::size_t kCasesTogether = 400;
constexpr std::chrono::milliseconds kLongestLimit = std::chrono::years(1);

run::Report ended(run::Ending ending, std::string detail) {
  run::Report report;
  report.ending = ending;
  report.detail = std::move(detail);
  return report;
}

bool has_atomics(const program::Block& block) {
  return std::ranges::any_of(block, [](const program::Statement& statement) {
    return std::visit(
        [](const auto& node) {
          if constexpr (std::is_same_v<std::decay_t<decltype(node)>, program::Access>)
            return node.kind == AccessKind::atomic;
          if constexpr (requires { node.body; }) return has_atomics(node.body);
          return false;
        },
        statement.node);
  });
}

class Vm final : public Machine {
 public:
  Vm(std::string name, program::MachineId id, Guest guest)
      : name_(std::move(name)), id_(std::move(id)), guest_(std::move(guest)) {}

  const program::MachineId& id() const override { return id_; }
  std::string name() const override { return name_; }
  std::string kernel() const override {
    return fmt::format("Linux {} ({}) under QEMU", id_.version.empty() ? "of an unknown version" : id_.version,
                       id_.arch);
  }
  Beside beside() const override { return Beside::others; }

  run::Report run(const program::Program& program, const Settings& settings) override {
    run::Report report = ask(program, settings);
    report.machine = name_;
    if (report.kernel.empty()) report.kernel = kernel();
    return report;
  }

  std::size_t cases_together() const override { return kCasesTogether; }
  std::expected<std::vector<run::CaseRecord>, std::string> play(const std::vector<run::Case>& cases) override {
    Guest player = guest_;
    player.purpose = Purpose::playing_cases;
    auto snapshot = take_snapshot(player, kBootLimit);
    if (!snapshot) return std::unexpected(snapshot.error());
    const std::string request = run::encode_cases(cases, static_cast<std::uint64_t>(kCaseLimit.count()));
    auto qemu = Qemu::start(snapshot->guest,
                            {snapshot->memory.get(), snapshot->state.get(), run::frame(request), {}, Counts::nothing});
    if (!qemu) return std::unexpected(qemu.error());
    const auto limit = kSlowdown * kCaseLimit * static_cast<std::int64_t>(cases.size());
    const auto body = qemu->message(std::chrono::steady_clock::now() + limit + kGrace);
    if (!body && body.error() == run::ReadFault::timeout) return std::unexpected(name_ + ": nothing came back in time");
    auto records = body ? run::decode_records(*body) : std::nullopt;
    if (!records || records->size() != cases.size()) return std::unexpected(name_ + ": " + broken(*qemu));
    return std::move(*records);
  }

 private:
  run::Report ask(const program::Program& program, const Settings& settings) const {
    if (const auto unknown = run::unknown_param(program, settings.params)) {
      return ended(run::Ending::misuse, "the program has no param " + *unknown);
    }
    auto snapshot = take_snapshot(guest_, kBootLimit);
    if (!snapshot) return ended(run::Ending::failed, snapshot.error());
    const auto limit = std::clamp(settings.time_limit, std::chrono::milliseconds(0), kLongestLimit);
    const std::string request =
        run::encode_request(id_, program, settings.params, static_cast<std::uint64_t>(limit.count()) / kSlowdown);
    const bool by_function = settings.attribute == Attribute::functions;
    const Task task{snapshot->memory.get(), snapshot->state.get(), run::frame(request),
                    by_function ? snapshot->functions : snapshot->entries,
                    by_function ? Counts::functions : Counts::windows};
    auto qemu = Qemu::start(snapshot->guest, task);
    if (!qemu) return ended(run::Ending::failed, qemu.error());
    run::Report report = answer(*qemu, *snapshot, limit);
    if (snapshot->replaced) report.notes.emplace_back("the snapshot was damaged, so the kernel was booted anew");
    if (guest_.arch == arch::Arch::x86_64 && has_atomics(program.body)) {
      report.notes.emplace_back(
          "QEMU runs an atomic of x86-64 as a load and then a store: a first touch takes 2 faults, not 1");
    }
    if (by_function) add_paths(report, qemu->profile(), function_names(read_whole(snapshot->functions).value_or("")));
    return report;
  }

  run::Report answer(Qemu& qemu, const Snapshot& snapshot, std::chrono::milliseconds limit) const {
    const auto body = qemu.message(std::chrono::steady_clock::now() + limit + kGrace);
    if (!body && body.error() == run::ReadFault::timeout) {
      return ended(run::Ending::timeout, fmt::format("nothing came back within {} s", (limit + kGrace).count() / 1000));
    }
    std::optional<run::Report> report;
    if (body) report = run::decode_report(*body);
    if (!report) return ended(run::Ending::failed, broken(qemu));
    if (report->ending == run::Ending::timeout) {
      report->detail = fmt::format("{} ms of guest time passed", limit.count() / kSlowdown);
    }
    std::error_code error;
    const bool named = fs::file_size(snapshot.entries, error) > 0 && !error;
    CounterSet seen;
    seen[std::to_underlying(Counter::exceptions)] = named;
    // On arm64 the processors tell each other which entries are gone.
    seen[std::to_underlying(Counter::ipis)] = named && guest_.cpus > 1 && guest_.arch == arch::Arch::x86_64;
    const Interrupts interrupts = add_counted(*report, qemu.records(), seen);
    if (interrupts.windows > 0) {
      report->notes.push_back(fmt::format("interrupts are left out: {} instructions in {} operations",
                                          interrupts.instructions, interrupts.windows));
    }
    if (!named) {
      report->notes.emplace_back(
          "this kernel does not name its functions (CONFIG_KALLSYMS), so interrupts are counted in");
    }
    report->kernel = fmt::format("Linux {}, {} ({}) under QEMU", snapshot.release, snapshot.version, id_.arch);
    return std::move(*report);
  }

  static std::string broken(Qemu& qemu) {
    const auto ended = qemu.ended();
    std::string text = ended ? *ended + " without an answer" : "the guest's answer is damaged";
    if (const std::string console = qemu.console(); !console.empty()) text += "\nThe console's last lines:\n" + console;
    return text;
  }

  std::string name_;
  program::MachineId id_;
  Guest guest_;
};

/// An image that is no part of the store is kept below its content's name, once it is known to be one.
std::expected<StoredKernel, std::string> kernel_at(const KernelStore& store, const fs::path& path) {
  const auto content = read_whole(path);
  if (!content) return std::unexpected(content.error());
  const KernelName name{arch::Arch::x86_64, "file-" + fingerprint(*content)};
  for (const arch::Arch arch : {arch::Arch::x86_64, arch::Arch::arm64}) {
    if (auto kept = store.find({arch, name.name})) return kept;
  }
  const auto image = parse_kernel_image(*content);
  if (!image) return std::unexpected(path.string() + " " + image.error());
  return store.add({image->arch, name.name}, *image, fs::absolute(path).string());
}

}  // namespace

std::expected<std::unique_ptr<Machine>, std::string> make_vm(std::string_view text) {
  const auto name = VmName::parse(text);
  if (!name) return std::unexpected(name.error());
  const auto store = KernelStore::open();
  if (!store) return std::unexpected(store.error());
  auto kernel = name->is_path() ? kernel_at(*store, name->kernel) : store->find(KernelName::parse(name->kernel));
  std::error_code error;
  if (!kernel && !name->is_path() && fs::is_regular_file(name->kernel, error)) kernel = kernel_at(*store, name->kernel);
  if (!kernel) return std::unexpected(kernel.error());
  program::MachineId id{"vm", std::string(arch::arch_name(kernel->name.arch)), kernel->version, ""};
  Guest guest{kernel->name.arch, kernel->image, {}, name->cpus, name->memory_mb, name->overcommit};
  return std::make_unique<Vm>("vm:" + std::string(text), std::move(id), std::move(guest));
}

}  // namespace faultline::machine::vm
