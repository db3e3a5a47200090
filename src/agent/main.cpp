// The agent: reads requests from its standard input, runs or plays each, writes what was found to its standard output.
// As a kernel's first process it is a guest (init.h).

#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>

#include "agent/case_runner.h"
#include "agent/clock.h"
#include "agent/descriptor.h"
#include "agent/init.h"
#include "agent/meter.h"
#include "agent/own_memory.h"
#include "agent/supervisor.h"
#include "run/frame_io.h"

namespace {

/// Programs get /dev/null in the place of the protocol's descriptors.
int hide(int standard, int flags) {
  const int moved = faultline::agent::out_of_the_way(dup(standard));
  const int null = open("/dev/null", flags);
  if (null >= 0) {
    dup2(null, standard);
    if (null != standard) close(null);
  }
  return moved;
}

}  // namespace

int main() {
  using namespace faultline;
  if (getpid() == 1) agent::be_init();
  if (isatty(STDIN_FILENO) != 0) {
    std::fputs("faultline-agent is started by faultline and speaks to it over a pipe\n", stderr);
    return 2;
  }
  // What the caller left open is no business of a program, whose first descriptor is 3 as in any process.
  close_range(STDERR_FILENO + 1, ~0U, 0);
  agent::keep_allocator_quiet();
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::signal(SIGPIPE, SIG_IGN);
  const int in = hide(STDIN_FILENO, O_RDONLY);
  const int out = hide(STDOUT_FILENO, O_WRONLY);

  const agent::Meter meter = agent::Meter::timing(agent::Clock::calibrated());
  while (true) {
    const auto body = run::read_frame(in, std::nullopt);
    if (!body) return body.error() == run::ReadFault::closed ? 0 : 1;
    if (const auto cases = run::decode_cases(*body)) {
      if (!run::write_frame(out, agent::play_cases(*cases))) return 0;
      continue;
    }
    const std::optional<run::Request> request = run::decode_request(*body);
    if (!request) return 1;
    if (!run::write_frame(out, run::encode(agent::supervise(*request, meter)))) return 0;
  }
}
