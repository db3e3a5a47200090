#include "machine/vm/kernel_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>

#include "machine/vm/cache.h"
#include "program/machine_pattern.h"

namespace faultline::machine::vm {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::string_view kImage = "image";
constexpr std::string_view kAbout = "kernel.json";

std::optional<StoredKernel> read_about(const fs::path& folder) {
  const auto text = read_whole(folder / kAbout);
  if (!text) return std::nullopt;
  const json about = json::parse(*text, nullptr, false);
  if (!about.is_object()) return std::nullopt;
  const auto field = [&](const char* name) {
    const auto found = about.find(name);
    return found != about.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  StoredKernel kernel{KernelName::parse(field("name")), field("version"), field("origin"), folder / kImage};
  std::error_code error;
  if (kernel.name.name.empty() || !fs::exists(kernel.image, error)) return std::nullopt;
  return kernel;
}

bool older(const StoredKernel& a, const StoredKernel& b) {
  if (a.name.arch != b.name.arch) return a.name.arch < b.name.arch;
  if (a.version != b.version && !a.version.empty() && !b.version.empty()) {
    return !program::version_at_least(a.version, b.version);
  }
  return a.name.name < b.name.name;
}

bool is_good_name(std::string_view name) {
  constexpr std::string_view kAllowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.+~_-";
  return !name.empty() && name.front() != '.' && name.size() < 100 &&
         name.find_first_not_of(kAllowed) == std::string_view::npos;
}

}  // namespace

KernelName KernelName::parse(std::string_view text) {
  for (const arch::Arch arch : {arch::Arch::x86_64, arch::Arch::arm64}) {
    const std::string prefix = std::string(arch::arch_name(arch)) + "/";
    if (text.starts_with(prefix)) return {arch, std::string(text.substr(prefix.size()))};
  }
  return {arch::Arch::x86_64, std::string(text)};
}

std::string KernelName::text() const {
  return arch == arch::Arch::x86_64 ? name : fmt::format("{}/{}", arch::arch_name(arch), name);
}

bool is_of_series(std::string_view version, std::string_view series) {
  return version == series || (version.starts_with(series) && version.size() > series.size() &&
                               version[series.size()] == '.' && !series.empty());
}

std::expected<KernelStore, std::string> KernelStore::open() {
  const auto cache = cache_folder();
  if (!cache) return std::unexpected(cache.error());
  return KernelStore(*cache / "kernels");
}

std::vector<StoredKernel> KernelStore::list() const {
  std::vector<StoredKernel> kernels;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_, error)) {
    if (auto kernel = read_about(entry.path())) kernels.push_back(std::move(*kernel));
  }
  std::ranges::sort(kernels, older);
  return kernels;
}

std::expected<StoredKernel, std::string> KernelStore::find(const KernelName& name) const {
  std::optional<StoredKernel> newest;
  for (StoredKernel& kernel : list()) {
    if (kernel.name.arch != name.arch) continue;
    if (kernel.name.name == name.name) return kernel;
    if (is_of_series(kernel.version, name.name)) newest = std::move(kernel);
  }
  if (newest) return *newest;
  return std::unexpected(
      fmt::format("no kernel {} is here; get it with \"faultline kernel fetch {}\", or bring your own: faultline "
                  "kernel add NAME FILE",
                  name.text(), name.text()));
}

std::expected<StoredKernel, std::string> KernelStore::add(const KernelName& name, const KernelImage& image,
                                                          std::string_view origin) const {
  if (!is_good_name(name.name)) {
    return std::unexpected(
        fmt::format("\"{}\" is no name for a kernel; expected letters, digits and any of . + ~ _ -", name.name));
  }
  if (name.arch != image.arch) {
    return std::unexpected(fmt::format("{} names a kernel for {}, but this one is for {}", name.text(),
                                       arch::arch_name(name.arch), arch::arch_name(image.arch)));
  }
  const fs::path folder = folder_ / fmt::format("{}-{}", arch::arch_name(name.arch), name.name);
  if (const auto made = make_folder(folder); !made) return std::unexpected(made.error());
  const json about{{"name", name.text()}, {"version", image.version}, {"origin", origin}};
  // The description last: without it there is no kernel, so an interrupted call leaves none behind.
  std::error_code error;
  fs::remove(folder / kAbout, error);
  if (const auto written = write_whole(folder / kImage, image.bytes); !written) return std::unexpected(written.error());
  if (const auto written = write_whole(folder / kAbout, about.dump(2) + "\n"); !written) {
    return std::unexpected(written.error());
  }
  return StoredKernel{name, image.version, std::string(origin), folder / kImage};
}

std::expected<void, std::string> KernelStore::remove(const StoredKernel& kernel) const {
  std::error_code error;
  fs::remove_all(kernel.image.parent_path(), error);
  if (error) return std::unexpected(kernel.image.parent_path().string() + ": " + error.message());
  return {};
}

}  // namespace faultline::machine::vm
