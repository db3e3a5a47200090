// 10 GiB of address space, of which one page in each GiB is used.
#include <sys/mman.h>

enum { kGibibytes = 10 };

int main(void) {
  const unsigned long gibibyte = 1UL << 30;
  char* space = mmap(0, kGibibytes * gibibyte, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (space == MAP_FAILED) return 1;
  for (unsigned long i = 0; i < kGibibytes; ++i) space[i * gibibyte] = 1;
  return 0;
}
