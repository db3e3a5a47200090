// A file that is mapped while it is empty, and then grows, shrinks and grows again under its mapping.
#define _GNU_SOURCE
#include <sys/mman.h>
#include <unistd.h>

enum { kPage = 4096 };

__attribute__((noinline)) static void touch(volatile char* file, int pages) {
  for (int i = 0; i < pages; ++i) file[i * kPage] = 1;
}

int main(void) {
  const int file = memfd_create("file", 0);
  char* mapped = mmap(0, 64 * kPage, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  const int sizes[] = {8, 32, 4, 6};
  for (int i = 0; i < 4; ++i) {
    if (ftruncate(file, sizes[i] * kPage) != 0) return 1;
    touch(mapped, sizes[i]);
  }
  return 0;
}
