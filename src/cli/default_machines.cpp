#include "cli/default_machines.h"

#include <fmt/format.h>
#include <sys/utsname.h>

#include "mm/profile.h"
#include "program/machine_pattern.h"

namespace faultline::cli {

std::string nearest_profile(std::string_view release, arch::Arch arch) {
  std::string_view nearest;
  for (const mm::Profile& profile : mm::presets()) {
    if (profile.arch != arch) continue;
    if (nearest.empty() || program::version_at_least(release, profile.version)) nearest = profile.name;
  }
  return std::string(nearest);
}

std::vector<std::string> default_machines(std::string_view release, std::string_view architecture) {
  const arch::Arch arch = architecture == "aarch64" ? arch::Arch::arm64 : arch::Arch::x86_64;
  return {"model:" + nearest_profile(release, arch), "live"};
}

std::vector<std::string> default_machines() {
  utsname name{};
  if (uname(&name) != 0) return {newest_model(), "live"};
  return default_machines(name.release, name.machine);
}

std::expected<mm::Profile, std::string> model_profile(std::string_view machine) {
  constexpr std::string_view kModel = "model:";
  if (!machine.starts_with(kModel)) {
    return std::unexpected(fmt::format("--on {}: only a model can explain itself; expected model:VERSION", machine));
  }
  auto profile = mm::parse_profile(machine.substr(kModel.size()));
  if (!profile) return std::unexpected(fmt::format("--on {}: {}", machine, profile.error()));
  return *profile;
}

std::string newest_model() {
  std::string_view newest;
  for (const mm::Profile& profile : mm::presets()) {
    if (profile.arch == arch::Arch::x86_64) newest = profile.name;
  }
  return "model:" + std::string(newest);
}

}  // namespace faultline::cli
