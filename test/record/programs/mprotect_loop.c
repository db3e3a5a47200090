// The loop of the mprotect thread: a block of 32 pages is quarantined, released and filled again.
#include <sys/mman.h>

enum { kPages = 32, kPage = 4096, kCycles = 10 };

__attribute__((noinline)) static void fill(char* block) {
  for (int i = 0; i < kPages; ++i) block[i * kPage] = 1;  // the store
}

int main(void) {
  char* block = mmap(0, kPages * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (block == MAP_FAILED) return 1;
  fill(block);
  for (int cycle = 0; cycle < kCycles; ++cycle) {
    if (mprotect(block, kPages * kPage, PROT_NONE) != 0) return 1;
    if (mprotect(block, kPages * kPage, PROT_READ | PROT_WRITE) != 0) return 1;
    fill(block);
  }
  return 0;
}
