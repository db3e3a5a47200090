/* Their stacks are shared memory: no mapping of the program merges with them. */
static void run_threads(void *(*body)(void *), char *arguments, size_t size, uint64_t count) {
  enum { STACK = 256 * 1024 };
  if (count == 0) return;
  if (count > 1024) give_up("expected at most 1024 threads");
  pthread_t *threads = calloc(count, sizeof *threads);
  char *stacks = mmap(NULL, count * STACK, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (threads == NULL || stacks == MAP_FAILED) give_up("threads");
  for (uint64_t i = 0; i < count; ++i) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, stacks + i * STACK, STACK);
    if (pthread_create(&threads[i], &attributes, body, arguments + i * size) != 0) give_up("pthread_create");
    pthread_attr_destroy(&attributes);
  }
  for (uint64_t i = 0; i < count; ++i) pthread_join(threads[i], NULL);
  munmap(stacks, count * STACK);
  free(threads);
}
