#include "agent/descriptor.h"

#include <fcntl.h>
#include <unistd.h>

namespace faultline::agent {

int out_of_the_way(int descriptor) {
  // Below the usual limit of 1024 open files.
  constexpr int kLowest = 512;
  if (descriptor < 0 || descriptor >= kLowest) return descriptor;
  const int moved = fcntl(descriptor, F_DUPFD_CLOEXEC, kLowest);
  if (moved < 0) return descriptor;
  close(descriptor);
  return moved;
}

}  // namespace faultline::agent
