// A first touch by an atomic instruction of each of 8 pages.
#include <sys/mman.h>

enum { kPages = 8, kPage = 4096 };

int main(void) {
  char* block = mmap(0, kPages * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (block == MAP_FAILED) return 1;
  for (int i = 0; i < kPages; ++i) __atomic_fetch_add((long*)(block + i * kPage), 1, __ATOMIC_SEQ_CST);
  return 0;
}
