#include "cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "report/format.h"

namespace faultline::cli {

Progress::Progress() : terminal_(isatty(STDERR_FILENO) == 1) {}

void Progress::show(std::string_view text) {
  if (!terminal_) return;
  // 79 columns: a line that wraps could not be taken away again.
  fmt::print(stderr, "\r\033[K{}", report::printable(text, 79));
  std::fflush(stderr);
  shown_ = true;
}

void Progress::clear() {
  if (!shown_) return;
  fmt::print(stderr, "\r\033[K");
  std::fflush(stderr);
  shown_ = false;
}

}  // namespace faultline::cli
