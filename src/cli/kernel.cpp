// faultline kernel fetch|list|add|remove
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/progress.h"
#include "machine/vm/cache.h"
#include "machine/vm/debian.h"
#include "machine/vm/kernel_store.h"
#include "report/grid.h"

namespace faultline::cli {
namespace {

namespace vm = machine::vm;

constexpr const char* kFetchFooter =
    R"(NAME is a series, "6.12" or "arm64/6.12", or an exact version such as "6.12.117"; of a series the newest is taken.
Needs apt and the network, and no root: apt gets a state of its own in the cache folder, checks every download, and
continues one that was broken off.

Example:
  faultline kernel fetch 5.10 6.1 6.12 7.3 arm64/6.12)";

constexpr const char* kAddFooter =
    R"(FILE is a bzImage, vmlinuz, Image, vmlinux, or a Debian package of a kernel. The kernel needs a serial console, an initial
RAM file system and /proc; on x86-64 also ioperm (CONFIG_X86_IOPL_IOPERM), on arm64 also /dev/mem (CONFIG_DEVMEM): both
are the defaults. Without CONFIG_KALLSYMS there are no figures by function.

Example:
  faultline kernel add patched arch/x86/boot/bzImage; faultline run programs/mprotect-cycle.fl --on vm:patched)";

std::string described(const vm::StoredKernel& kernel) {
  return fmt::format("vm:{} is Linux {} ({})", kernel.name.text(), kernel.version.empty() ? "?" : kernel.version,
                     kernel.origin);
}

ExitStatus fetch(const std::vector<std::string>& names, const std::string& mirror) {
  const auto store = vm::KernelStore::open();
  if (!store) return complain(store.error());
  ExitStatus status = ExitStatus::ok;
  Progress progress;
  for (const std::string& name : names) {
    const auto kernel = vm::fetch_debian_kernel(*store, vm::KernelName::parse(name), mirror,
                                                [&](std::string_view text) { progress.show(text); });
    progress.clear();
    if (kernel) {
      fmt::print("{}\n", described(*kernel));
      std::fflush(stdout);
    } else {
      status = complain(fmt::format("kernel {}: {}", name, kernel.error()));
    }
  }
  return status;
}

ExitStatus list() {
  const auto store = vm::KernelStore::open();
  if (!store) return complain(store.error());
  const std::vector<vm::StoredKernel> kernels = store->list();
  if (kernels.empty()) {
    fmt::print("No kernels yet. Get some: faultline kernel fetch 6.1 6.12\n");
    return ExitStatus::ok;
  }
  report::Grid grid({report::Align::left, report::Align::left, report::Align::right, report::Align::left});
  grid.set_heading({"machine", "release", "MB", "from"});
  for (const vm::StoredKernel& kernel : kernels) {
    std::error_code error;
    const auto bytes = std::filesystem::file_size(kernel.image, error);
    grid.add({"vm:" + kernel.name.text(), kernel.version.empty() ? "?" : kernel.version,
              error ? "?" : std::to_string((bytes + 500'000) / 1'000'000), kernel.origin});
  }
  fmt::print("{}", grid.text(report::colour_for(STDOUT_FILENO)));
  return ExitStatus::ok;
}

ExitStatus add(const std::string& name, const std::string& file) {
  const auto store = vm::KernelStore::open();
  if (!store) return complain(store.error());
  const auto content = vm::read_whole(file);
  if (!content) return complain(content.error());
  const auto image = vm::parse_kernel_image(*content);
  if (!image) return complain(fmt::format("{} {}", file, image.error()));
  vm::KernelName named = vm::KernelName::parse(name);
  // The image knows its processor; saying so is optional.
  if (!name.contains('/')) named.arch = image->arch;
  const auto kernel = store->add(named, *image, std::filesystem::absolute(file).string());
  if (!kernel) return complain(kernel.error());
  fmt::print("{}\n", described(*kernel));
  return ExitStatus::ok;
}

ExitStatus remove(const std::vector<std::string>& names) {
  const auto store = vm::KernelStore::open();
  if (!store) return complain(store.error());
  for (const std::string& name : names) {
    const auto kernel = store->find(vm::KernelName::parse(name));
    if (!kernel)
      return complain(fmt::format("no kernel {} is here; \"faultline kernel list\" shows those that are", name));
    if (const auto removed = store->remove(*kernel); !removed) return complain(removed.error());
    fmt::print("removed {}\n", described(*kernel));
  }
  return ExitStatus::ok;
}

}  // namespace

void add_kernel(CLI::App& app, ExitStatus& status) {
  CLI::App& command = *app.add_subcommand("kernel", "Fetch, list, add and remove the kernels that vm runs");
  command.require_subcommand(1);

  auto names = std::make_shared<std::vector<std::string>>();
  auto mirror = std::make_shared<std::string>();
  CLI::App& fetching = *command.add_subcommand("fetch", "Get Debian's cloud kernels");
  fetching.add_option("NAME", *names, "Series or versions, such as 6.12 or arm64/6.12")->required();
  fetching.add_option("--mirror", *mirror, "The Debian archive to use instead of that of this machine's apt")
      ->type_name("URL");
  fetching.footer(kFetchFooter);
  fetching.callback([names, mirror, &status] { status = fetch(*names, *mirror); });

  command.add_subcommand("list", "List the kernels that are here")->callback([&status] { status = list(); });

  auto name = std::make_shared<std::string>();
  auto file = std::make_shared<std::string>();
  CLI::App& adding = *command.add_subcommand("add", "Keep a kernel of your own under a name");
  adding.add_option("NAME", *name, "What it is called, as in vm:NAME")->required();
  adding.add_option("FILE", *file, "The image")->required();
  adding.footer(kAddFooter);
  adding.callback([name, file, &status] { status = add(*name, *file); });

  auto removed = std::make_shared<std::vector<std::string>>();
  CLI::App& removing = *command.add_subcommand("remove", "Forget kernels");
  removing.add_option("NAME", *removed, "As \"faultline kernel list\" shows it, without vm:")->required();
  removing.callback([removed, &status] { status = remove(*removed); });
}

}  // namespace faultline::cli
