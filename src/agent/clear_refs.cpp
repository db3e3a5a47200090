#include "agent/clear_refs.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <charconv>

#include "agent/descriptor.h"

namespace faultline::agent {

RawCall ClearRefsFile::write_of(int number) {
  if (file_ < 0) file_ = out_of_the_way(open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC));
  const char* end = std::to_chars(text_.data(), text_.data() + text_.size(), number).ptr;
  return {SYS_write,
          {static_cast<std::uint64_t>(file_), reinterpret_cast<std::uint64_t>(text_.data()),
           static_cast<std::uint64_t>(end - text_.data())}};
}

void ClearRefsFile::close() {
  if (file_ >= 0) ::close(file_);
  file_ = -1;
}

}  // namespace faultline::agent
