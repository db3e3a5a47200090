// What policies forbid: code that is written where it is executed, code that takes turns, a quarantine, and an arena cut
// into pieces.
#include <string.h>
#include <sys/mman.h>

enum { kPage = 4096, kTurns = 10, kBlocks = 8, kArena = 64 };

static char* map(int pages, int protection) {
  return mmap(0, pages * kPage, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void run(char* code) {
  memset(code, 0xc3, 64);  // ret
  ((void (*)(void))code)();
}

static void take_turns(char* code) {
  mprotect(code, kPage, PROT_READ | PROT_WRITE);
  memset(code, 0xc3, 64);
  mprotect(code, kPage, PROT_READ | PROT_EXEC);  // the turn
  ((void (*)(void))code)();
}

static void quarantine(char* block) {
  mprotect(block, 8 * kPage, PROT_NONE);
  mprotect(block, 8 * kPage, PROT_READ | PROT_WRITE);
  block[0] += 1;
}

int main(void) {
  run(map(1, PROT_READ | PROT_WRITE | PROT_EXEC));
  char* code = map(1, PROT_READ | PROT_WRITE);
  for (int i = 0; i < kTurns; ++i) take_turns(code);
  char* arena = map(kArena, PROT_READ | PROT_WRITE);
  memset(arena, 1, kArena * kPage);
  for (int i = 0; i < kBlocks; ++i) quarantine(arena + 16 * kPage);
  for (int i = 0; i < kArena; i += 2) madvise(arena + i * kPage, kPage, MADV_DONTDUMP);  // the pieces
  return 0;
}
