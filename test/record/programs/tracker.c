// Signals that a program means to get: a tracker of dirty pages as garbage collectors have it, a load that is not allowed, and
// one behind the end of a file.
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

enum { kPage = 4096, kPages = 32, kRounds = 4 };

static char* tracked;
static sigjmp_buf out;

static void on_signal(int number, siginfo_t* info, void* context) {
  (void)context;
  char* page = (char*)((uintptr_t)info->si_addr & ~(uintptr_t)(kPage - 1));
  if (number != SIGSEGV || page < tracked || page >= tracked + kPages * kPage) siglongjmp(out, 1);
  mprotect(page, kPage, PROT_READ | PROT_WRITE);
}

static void handle(int number) {
  struct sigaction action = {.sa_flags = SA_SIGINFO};
  action.sa_sigaction = on_signal;
  sigaction(number, &action, 0);
}

static void write_some(int every) {
  for (int i = 0; i < kPages; i += every) {
    tracked[i * kPage] = 1;  // the tracked store
  }
}

int main(void) {
  handle(SIGSEGV);
  handle(SIGBUS);
  tracked = mmap(0, kPages * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  write_some(1);
  for (int round = 0; round < kRounds; ++round) {
    mprotect(tracked, kPages * kPage, PROT_READ);
    write_some(1 + round);
    write_some(1 + round);
  }
  volatile char* none = mmap(0, kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (sigsetjmp(out, 1) == 0) none[8];  // the forbidden load
  const int file = memfd_create("empty", 0);
  volatile char* beyond = mmap(0, kPage, PROT_READ, MAP_SHARED, file, 0);
  if (sigsetjmp(out, 1) == 0) beyond[16];  // the load behind the end
  if (sigsetjmp(out, 1) == 0) *(volatile char*)64;  // the load of nothing
  return 0;
}
