#include "machine/descriptors.h"

namespace faultline::machine {

Result<int> Descriptors::open_zeros() {
  for (std::uint64_t fd = kFirst; fd < kLimit; ++fd) {
    if (open_[fd]) continue;
    open_.set(fd);
    return static_cast<int>(fd);
  }
  return fail(EMFILE);
}

Result<void> Descriptors::close(std::uint64_t fd) {
  if (!is_open(fd)) return fail(EBADF);
  open_.reset(fd);
  return {};
}

}  // namespace faultline::machine
