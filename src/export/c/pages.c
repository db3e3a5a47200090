static int is_present(uint64_t address) {
  static int file = -1;
  static pid_t opened_by;
  if (opened_by != getpid()) {
    if (file >= 0) close(file);
    file = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    opened_by = getpid();
  }
  uint64_t entry = 0;
  if (pread(file, &entry, sizeof entry, (off_t)(address / PAGE * sizeof entry)) != sizeof entry) return 0;
  return (entry >> 62) != 0 && (entry >> 58 & 1) == 0; /* present or swapped, and no guard */
}

__attribute__((unused)) static uint64_t resident(uint64_t address, uint64_t length) {
  uint64_t found = 0;
  for (uint64_t page = address & ~(PAGE - 1); page < address + length; page += PAGE) found += (uint64_t)is_present(page);
  return found;
}

/* Without an access, also of what PROT_NONE hides. */
__attribute__((unused)) static uint64_t byte_at(uint64_t address) {
  unsigned char byte = 0;
  if (!is_present(address)) return 0;
  int file = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
  if (file >= 0 && pread(file, &byte, 1, (off_t)address) != 1) byte = 0;
  if (file >= 0) close(file);
  return byte;
}
