#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "arch/arch.h"
#include "mm/profile.h"

namespace faultline::cli {

/// What `faultline run` runs on when no --on is given: the newest model that is not newer than the kernel `release` of
/// this machine (the oldest when all are), for its architecture, and `live`. So a program's first run shows at once
/// where the model and this kernel differ.
/// `architecture` is uname(2)'s: "x86_64", "aarch64".
std::vector<std::string> default_machines(std::string_view release, std::string_view architecture);

/// The same for the kernel that runs now.
std::vector<std::string> default_machines();

/// The profile of "model:6.12"; the error says what was expected.
std::expected<mm::Profile, std::string> model_profile(std::string_view machine);
/// The newest preset of that architecture that is not newer than the kernel `release`; the oldest when all are.
std::string nearest_profile(std::string_view release, arch::Arch arch);

/// The newest model of x86-64, what `faultline explain` explains when no --on is given.
std::string newest_model();

}  // namespace faultline::cli
