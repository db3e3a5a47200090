static void begin(void) {
  main_process = getpid();
  shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) give_up("mmap");
  for (unsigned i = 0; i < OPERATIONS; ++i) shared->operations[i].vmas = -1;
  /* Memory that nothing merges with, below all that is mapped: no gap between libraries holds that much. Then pages that fill the gaps above. */
  const int flags = MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE;
  char *lowest = mmap(NULL, (size_t)1 << 30, PROT_NONE, flags, -1, 0);
  for (size_t size = (size_t)1 << 30; size >= PAGE;) {
    char *filler = mmap(NULL, size, PROT_NONE, flags, -1, 0);
    if (filler != MAP_FAILED && filler > lowest) continue;
    if (filler != MAP_FAILED) munmap(filler, size);
    size /= 2;
  }
  /* And one below it, so that the program's first mapping ends where the model's does within 2 MiB: faults around go by 64 KiB. */
  const size_t below = ((uintptr_t)lowest + PAGE) % ((size_t)1 << 21);
  if (below != 0) mmap(NULL, below, PROT_NONE, flags, -1, 0);
