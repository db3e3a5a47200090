// 64 threads, each with a mapping of its own that it fills, protects and gives back.
#include <pthread.h>
#include <sys/mman.h>

enum { kThreads = 64, kPages = 8, kPage = 4096 };

static void* run(void* unused) {
  (void)unused;
  char* block = mmap(0, kPages * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (block == MAP_FAILED) return (void*)1;
  for (int i = 0; i < kPages; ++i) block[i * kPage] = 1;
  mprotect(block, kPage, PROT_READ);
  madvise(block + kPage, kPage, MADV_DONTNEED);
  block[kPage] = 2;
  munmap(block, kPages * kPage);
  return 0;
}

int main(void) {
  pthread_t threads[kThreads];
  for (int i = 0; i < kThreads; ++i) {
    if (pthread_create(&threads[i], 0, run, 0) != 0) return 1;
  }
  for (int i = 0; i < kThreads; ++i) {
    void* result = 0;
    pthread_join(threads[i], &result);
    if (result != 0) return 1;
  }
  return 0;
}
