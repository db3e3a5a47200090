#pragma once

#include <string>
#include <string_view>

namespace faultline::agent {

/// The content of a file of QEMU's configuration device; empty while there is none of that name. The device has to be
/// open (arch::open_configuration).
std::string read_configured_file(std::string_view name);

}  // namespace faultline::agent
