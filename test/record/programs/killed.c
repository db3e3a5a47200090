// Touches 50 pages, then kills itself in the middle of its work.
#include <signal.h>
#include <sys/mman.h>

enum { kPages = 100, kPage = 4096 };

int main(void) {
  char* block = mmap(0, kPages * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (block == MAP_FAILED) return 1;
  for (int i = 0; i < kPages; ++i) {
    block[i * kPage] = 1;
    if (i == kPages / 2 - 1) raise(SIGKILL);
  }
  return 0;
}
