#include "machine/vm/debian.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "machine/vm/cache.h"
#include "machine/vm/subprocess.h"
#include "program/machine_pattern.h"

namespace faultline::machine::vm {
namespace {

namespace fs = std::filesystem;

constexpr const char* kKeyring = "/usr/share/keyrings/debian-archive-keyring.gpg";

/// Where Debian has which kernels. A series that is not named may be in any of the last suites.
struct Suite {
  std::string_view series;
  std::string_view name;
};
constexpr auto kSuites = std::to_array<Suite>({
    {"5.10", "bullseye"},
    {"6.1", "bookworm"},
    {"6.12", "trixie"},
    {"", "trixie-backports"},
    {"", "bookworm-backports"},
});

std::vector<std::string_view> suites_for(std::string_view series) {
  std::vector<std::string_view> names;
  for (const Suite& suite : kSuites) {
    if (!suite.series.empty() && (series == suite.series || is_of_series(series, suite.series))) return {suite.name};
    if (suite.series.empty()) names.push_back(suite.name);
  }
  return names;
}

std::string_view debian_arch(arch::Arch arch) { return arch == arch::Arch::arm64 ? "arm64" : "amd64"; }

struct Package {
  std::string name;
  std::string version;  // "6.12.117-1"
  std::uint64_t bytes = 0;

  std::string upstream() const { return version.substr(0, version.rfind('-')); }
};

/// Up to the end of the line that follows `field`.
std::string_view field(std::string_view record, std::string_view name) {
  const std::string start = fmt::format("\n{}: ", name);
  const std::size_t at = record.find(start);
  if (at == std::string_view::npos) return {};
  record.remove_prefix(at + start.size());
  return record.substr(0, record.find('\n'));
}

/// Those that hold a kernel: the packages named alike that only depend on others, or hold debugging symbols, do not.
std::vector<Package> packages_in(std::string_view records, std::string_view arch) {
  constexpr std::uint64_t kSmallestKernel = 4 << 20;
  const std::string ending = fmt::format("-cloud-{}", arch);
  std::vector<Package> packages;
  while (!records.empty()) {
    const std::size_t end = std::min(records.find("\n\n"), records.size());
    const std::string record = "\n" + std::string(records.substr(0, end)) + "\n";
    records.remove_prefix(std::min(end + 2, records.size()));
    Package package{std::string(field(record, "Package")), std::string(field(record, "Version"))};
    package.bytes = std::strtoull(std::string(field(record, "Size")).c_str(), nullptr, 10);
    std::string_view stem = package.name;
    if (stem.ends_with("-unsigned")) stem.remove_suffix(std::string_view("-unsigned").size());
    if (stem.ends_with(ending) && package.bytes > kSmallestKernel) packages.push_back(std::move(package));
  }
  return packages;
}

/// The newest that fits; of one version, linux-binary before linux-image, as the latter may come without a kernel.
std::optional<Package> newest(const std::vector<Package>& packages, std::string_view series) {
  std::optional<Package> best;
  for (const Package& package : packages) {
    if (!is_of_series(package.upstream(), series)) continue;
    const bool newer =
        !best || (best->version == package.version ? package.name < best->name
                                                   : program::version_at_least(package.upstream(), best->upstream()));
    if (newer) best = package;
  }
  return best;
}

/// apt-get and apt-cache with a state of their own.
class Apt {
 public:
  static std::expected<Apt, std::string> open(std::string_view suite, std::string_view arch, std::string_view mirror) {
    const auto cache = cache_folder();
    if (!cache) return std::unexpected(cache.error());
    Apt apt(*cache / "apt" / fmt::format("{}-{}", suite, arch));
    for (const char* folder : {"lists/partial", "cache/archives/partial", "packages/partial"}) {
      if (const auto made = make_folder(apt.folder_ / folder); !made) return std::unexpected(made.error());
    }
    const auto written = write_whole(apt.folder_ / "sources.list",
                                     fmt::format("deb [signed-by={}] {} {} main\n", kKeyring, mirror, suite));
    if (!written) return std::unexpected(written.error());
    const std::string here = apt.folder_.string();
    apt.options_ = {"Dir::State::lists=" + here + "/lists", "Dir::State::status=/dev/null",
                    "Dir::Cache=" + here + "/cache", "Dir::Etc::sourcelist=" + here + "/sources.list",
                    "Dir::Etc::sourceparts=/dev/null", "Dir::Etc::preferences=/dev/null",
                    "Dir::Etc::preferencesparts=/dev/null", fmt::format("APT::Architecture={}", arch),
                    fmt::format("APT::Architectures::={}", arch), "Acquire::Languages=none",
                    "Acquire::GzipIndexes=true", "Acquire::IndexTargets::deb::Contents-deb::DefaultEnabled=false",
                    "Acquire::Retries=3",
                    // The user who owns the cache downloads into it, not one who may not enter it.
                    "APT::Sandbox::User=root", "APT::Status-Fd=3"};
    return apt;
  }

  /// Runs in the folder of packages, where apt-get leaves what it downloads.
  std::expected<Finished, std::string> run(const std::vector<std::string>& command,
                                           const Progressing& progress = {}) const {
    std::vector<std::string> whole{command.front()};
    for (const std::string& option : options_) {
      whole.emplace_back("-o");
      whole.push_back(option);
    }
    whole.insert(whole.end(), command.begin() + 1, command.end());
    auto finished = run_command(
        whole,
        [&](std::string_view line) {
          if (progress) progress(line);
        },
        packages().string());
    if (finished && finished->status != 0) return std::unexpected(complaint(command.front(), *finished));
    return finished;
  }

  /// The package lists are good for a day.
  bool has_fresh_lists() const {
    std::error_code error;
    const auto written = fs::last_write_time(folder_ / "updated", error);
    return !error && fs::file_time_type::clock::now() - written < std::chrono::days(1);
  }
  void note_lists() const { static_cast<void>(write_whole(folder_ / "updated", "")); }

  fs::path packages() const { return folder_ / "packages"; }

 private:
  explicit Apt(fs::path folder) : folder_(std::move(folder)) {}

  static std::string complaint(std::string_view program, const Finished& finished) {
    std::string_view text = finished.errors;
    while (text.ends_with('\n')) text.remove_suffix(1);
    const std::size_t last = text.rfind('\n');
    if (last != std::string_view::npos) text.remove_prefix(last + 1);
    return fmt::format("{} failed: {}", program, text.empty() ? fmt::format("status {}", finished.status) : text);
  }

  fs::path folder_;
  std::vector<std::string> options_;
};

/// The archive that this machine's own apt uses.
std::expected<std::string, std::string> machines_mirror() {
  const auto targets = run_command({"apt-get", "indextargets", "--format", "$(LABEL)|$(SITE)", "Created-By: Packages"});
  if (!targets) return std::unexpected("kernels are fetched through apt, but " + targets.error());
  std::string by_path;
  std::string_view rest = targets->output;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const std::size_t bar = line.find('|');
    if (bar == std::string_view::npos) continue;
    std::string_view site = line.substr(bar + 1);
    while (site.ends_with('/')) site.remove_suffix(1);
    if (line.starts_with("Debian|")) return std::string(site);
    // Before the first `apt-get update` there are no labels.
    if (by_path.empty() && site.ends_with("/debian")) by_path = site;
  }
  if (!by_path.empty()) return by_path;
  return std::unexpected("this machine's apt knows no Debian archive; name one with --mirror URL");
}

/// "dlstatus:1:45.5:Retrieving file 1 of 1 …" as "45%".
void tell_percent(std::string_view line, std::string_view what, const Progressing& progress) {
  constexpr std::string_view kDownload = "dlstatus:";
  if (!line.starts_with(kDownload)) return;
  line.remove_prefix(kDownload.size());
  line.remove_prefix(std::min(line.find(':') + 1, line.size()));
  progress(fmt::format("{} {}%", what, line.substr(0, line.find_first_of(".:"))));
}

std::expected<void, std::string> update(const Apt& apt, std::string_view suite, const Progressing& progress) {
  if (apt.has_fresh_lists()) return {};
  const std::string what = fmt::format("reading the package lists of Debian {}", suite);
  progress(what);
  const auto updated =
      apt.run({"apt-get", "update", "-qq"}, [&](std::string_view line) { tell_percent(line, what, progress); });
  if (!updated) return std::unexpected(updated.error());
  apt.note_lists();
  return {};
}

std::expected<std::vector<Package>, std::string> search(const Apt& apt, std::string_view arch) {
  const auto found = apt.run(
      {"apt-cache", "search", "--names-only", "--full", fmt::format("^linux-(image|binary)-.*-cloud-{}", arch)});
  if (!found) return std::unexpected(found.error());
  return packages_in(found->output, arch);
}

std::expected<KernelImage, std::string> download(const Apt& apt, const Package& package, const Progressing& progress) {
  const std::string what = fmt::format("{} ({} MB)", package.name, package.bytes / 1'000'000);
  progress(what);
  const auto done = apt.run({"apt-get", "download", "-qq", package.name + "=" + package.version},
                            [&](std::string_view line) { tell_percent(line, what, progress); });
  if (!done) return std::unexpected(done.error());
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(apt.packages(), error)) {
    if (!entry.path().filename().string().starts_with(package.name + "_")) continue;
    const auto content = read_whole(entry.path());
    if (!content) return std::unexpected(content.error());
    auto image = parse_kernel_image(*content);
    fs::remove(entry.path(), error);
    if (!image) return std::unexpected(package.name + " " + image.error());
    return image;
  }
  return std::unexpected("apt-get left no package of " + package.name);
}

}  // namespace

std::expected<StoredKernel, std::string> fetch_debian_kernel(const KernelStore& store, const KernelName& name,
                                                             std::string_view mirror, const Progressing& progress) {
  std::string archive(mirror);
  if (archive.empty()) {
    const auto found = machines_mirror();
    if (!found) return std::unexpected(found.error());
    archive = *found;
  }
  if (access(kKeyring, R_OK) != 0) {
    return std::unexpected(fmt::format("{} is missing; install the package debian-archive-keyring", kKeyring));
  }
  const std::string_view arch = debian_arch(name.arch);
  std::string looked;
  for (const std::string_view suite : suites_for(name.name)) {
    const auto apt = Apt::open(suite, arch, archive);
    if (!apt) return std::unexpected(apt.error());
    if (const auto updated = update(*apt, suite, progress); !updated) return std::unexpected(updated.error());
    const auto packages = search(*apt, arch);
    if (!packages) return std::unexpected(packages.error());
    looked += fmt::format("{}{}", looked.empty() ? "" : ", ", suite);
    const auto package = newest(*packages, name.name);
    if (!package) continue;
    const KernelName stored{name.arch, package->upstream()};
    if (auto here = store.find(stored); here && here->version == package->upstream()) return *here;
    auto image = download(*apt, *package, progress);
    if (!image) return std::unexpected(image.error());
    image->version = package->upstream();
    return store.add(stored, *image, fmt::format("Debian {}, {} {}", suite, package->name, package->version));
  }
  return std::unexpected(fmt::format("Debian has no cloud kernel {} for {} (looked in {})", name.name, arch, looked));
}

}  // namespace faultline::machine::vm
