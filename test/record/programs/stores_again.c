// Stores to the same 32 pages in ten rounds, between which are only calls that concern no memory.
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { kPage = 4096, kPages = 32, kRounds = 10, kCalls = 10 };

int main(void) {
  volatile char* block = mmap(0, kPages * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  for (int round = 0; round < kRounds; ++round) {
    for (int i = 0; i < kPages; ++i) block[i * kPage] = 1;
    for (int i = 0; i < kCalls; ++i) syscall(SYS_getppid);
  }
  return 0;
}
