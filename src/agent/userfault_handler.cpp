#include "agent/userfault_handler.h"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>

#include "agent/descriptor.h"
#include "base/page.h"

namespace faultline::agent {
namespace {

alignas(kPageSize) const std::byte kZeroes[kPageSize] = {};

void answer(int descriptor, const uffd_msg& message) {
  if (message.event != UFFD_EVENT_PAGEFAULT) return;
  const std::uint64_t page = message.arg.pagefault.address & ~(kPageSize - 1);
  if ((message.arg.pagefault.flags & UFFD_PAGEFAULT_FLAG_WP) != 0) {
    uffdio_writeprotect unprotect{{page, kPageSize}, 0};
    ioctl(descriptor, UFFDIO_WRITEPROTECT, &unprotect);
  } else {
    uffdio_copy copy{page, reinterpret_cast<std::uint64_t>(kZeroes), kPageSize, 0, 0};
    ioctl(descriptor, UFFDIO_COPY, &copy);
  }
}

}  // namespace

void* UserfaultHandlers::serve(void* argument) {
  const auto& handler = *static_cast<const Handler*>(argument);
  for (;;) {
    pollfd waits[] = {{handler.leave, POLLIN, 0}, {handler.descriptor, POLLIN, 0}};
    if (poll(waits, 2, -1) < 0) continue;
    if (waits[0].revents != 0) return nullptr;
    uffd_msg message{};
    if (read(handler.descriptor, &message, sizeof message) == sizeof message) answer(handler.descriptor, message);
  }
}

bool UserfaultHandlers::start(int descriptor) {
  if (stacks_.empty()) return false;
  for (std::size_t i = 0; i < kMost; ++i) {
    Handler& handler = handlers_[i];
    if (handler.descriptor >= 0) continue;
    // Without it poll(2) does not wait for a userfaultfd.
    fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK);
    handler.leave = out_of_the_way(eventfd(0, EFD_CLOEXEC));
    handler.descriptor = descriptor;
    // Signals are for those who run the program.
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, stacks_.data() + i * kStack, kStack);
    const bool started = pthread_create(&handler.thread, &attributes, serve, &handler) == 0;
    pthread_attr_destroy(&attributes);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (started) return true;
    close(handler.leave);
    handler = {};
    return false;
  }
  return false;
}

void UserfaultHandlers::stop(int descriptor) {
  for (Handler& handler : handlers_) {
    if (handler.descriptor != descriptor) continue;
    const std::uint64_t one = 1;
    if (write(handler.leave, &one, sizeof one) == sizeof one) pthread_join(handler.thread, nullptr);
    close(handler.leave);
    handler = {};
  }
}

}  // namespace faultline::agent
