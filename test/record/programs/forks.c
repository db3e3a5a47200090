// 200 children, one after the other, each of which writes to 4 pages that it shares with its parent.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kChildren = 200, kPages = 4, kPage = 4096 };

int main(void) {
  char* block = mmap(0, kPages * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (block == MAP_FAILED) return 1;
  for (int i = 0; i < kPages; ++i) block[i * kPage] = 1;
  for (int child = 0; child < kChildren; ++child) {
    const pid_t pid = fork();
    if (pid < 0) return 1;
    if (pid == 0) {
      for (int i = 0; i < kPages; ++i) block[i * kPage] = 2;
      _exit(0);
    }
    int status = 0;
    if (waitpid(pid, &status, 0) != pid || status != 0) return 1;
  }
  return 0;
}
