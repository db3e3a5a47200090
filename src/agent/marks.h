#pragma once

#include <cstdint>
#include <string_view>

#include "run/marks.h"

/// What the agent tells the plugin that counts it, when it runs under emulation. Never used on a real processor.
namespace faultline::agent {

void send(run::Mark mark);
/// With an argument.
void send(run::Mark mark, std::uint32_t argument);
/// A whole message to the host.
void send_message(std::string_view bytes);

}  // namespace faultline::agent
