/* One load for all allocators: four threads of small objects with a few large ones, in a fixed order, that free what
   the thread before them allocated. */
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 4, SLOTS = 2000, ROUNDS = 12000 };

static void *slots[THREADS][SLOTS];

static uint32_t next(uint32_t *state) { return *state = *state * 1664525u + 1013904223u; }

static size_t size_of(uint32_t random) {
  if (random % 1000 == 0) return 256 * 1024 + random % (1024 * 1024);
  if (random % 20 == 0) return 4096 + random % 16384;
  return 16 + random % 500;
}

static void *run(void *argument) {
  size_t thread = (size_t)(uintptr_t)argument;
  uint32_t state = (uint32_t)thread + 1;
  for (int round = 0; round < ROUNDS; ++round) {
    void **slot = &slots[thread][(next(&state) >> 8) % SLOTS];
    size_t size = size_of(next(&state) >> 8);
    free(*slot);
    *slot = malloc(size);
    if (*slot == NULL) abort();
    memset(*slot, 1, size < 4096 ? size : 4096);
  }
  return NULL;
}

int main(void) {
  /* One after the other: every run does the same. */
  for (uintptr_t thread = 0; thread < THREADS; ++thread) {
    pthread_t worker;
    if (pthread_create(&worker, NULL, run, (void *)thread) != 0) abort();
    pthread_join(worker, NULL);
    if (thread > 0) {
      for (int i = 0; i < SLOTS; ++i) {
        free(slots[thread - 1][i]);
        slots[thread - 1][i] = NULL;
      }
    }
  }
  printf("%d\n", THREADS * ROUNDS);
  return 0;
}
