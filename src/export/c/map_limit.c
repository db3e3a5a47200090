static uint64_t max_map_count(void) {
  char text[32] = {0};
  int file = open("/proc/sys/vm/max_map_count", O_RDONLY | O_CLOEXEC);
  if (file < 0 || read(file, text, sizeof text - 1) <= 0) give_up("/proc/sys/vm/max_map_count");
  close(file);
  return strtoull(text, NULL, 10);
}
