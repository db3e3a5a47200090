// A short check against real kernels, where they are: the model has to be what they are.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <thread>

#include "check/as_built.h"
#include "check/hunt.h"
#include "program/machine_pattern.h"

namespace faultline::check {
namespace {

/// The preset of exactly the machine's series, if there is one.
std::optional<mm::Profile> profile_of(const program::MachineId& id) {
  const arch::Arch arch = id.arch == "arm64" ? arch::Arch::arm64 : arch::Arch::x86_64;
  for (const mm::Profile& preset : mm::presets()) {
    if (preset.arch == arch && (id.version == preset.version || id.version.starts_with(preset.version + "."))) {
      return preset;
    }
  }
  return std::nullopt;
}

/// As many programs on every machine, so that the same ones are played wherever this runs.
void check(const std::string& name, std::uint64_t programs) {
  const auto machine = machine::make_machine(name);
  if (!machine) GTEST_SKIP() << machine.error();
  auto profile = profile_of((*machine)->id());
  if (!profile) GTEST_SKIP() << "no preset is of " << (*machine)->kernel();
  *profile = as_built(*profile, **machine);
  const auto caught = hunt({.profile = *profile,
                            .make_machine = [&] { return machine::make_machine(name); },
                            .seed = 1,
                            .programs = programs,
                            .seconds = {},
                            .atomics = atomics_on((*machine)->id()),
                            .workers = 2 * std::max(std::thread::hardware_concurrency(), 1U),
                            .together = (*machine)->cases_together(),
                            .stop = {},
                            .progress = {}});
  ASSERT_TRUE(caught) << caught.error();
  EXPECT_GT(caught->programs, 0U);
  if (!caught->first) return;
  Checker checker(*profile, **machine);
  const auto shrunk = checker.shrink(*caught->first);
  FAIL() << checker.reproducer(shrunk ? *shrunk : *caught->first);
}

TEST(Kernels, TheModelIsTheKernelOfThisMachine) { check("live", 4000); }

// $FAULTLINE_CHECK_VM names another than the default.
TEST(Kernels, TheModelIsAKernelUnderQemu) {
  if (std::system("command -v qemu-system-x86_64 >/dev/null") != 0) GTEST_SKIP() << "no qemu-system-x86_64 here";
  const char* named = std::getenv("FAULTLINE_CHECK_VM");
  check(named != nullptr ? named : "vm:6.12", 800);
}

}  // namespace
}  // namespace faultline::check
