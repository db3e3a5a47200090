/* Pages of the range that huge pages map, by PAGEMAP_SCAN (since Linux 6.7). */
static uint64_t huge(uint64_t address, uint64_t length) {
  struct {
    uint64_t size, flags, start, end, walk_end, vec, vec_len, max_pages, inverted, mask, any, returned;
  } scan;
  struct {
    uint64_t start, end, categories;
  } regions[64];
  uint64_t found = 0;
  int file = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  struct maps maps = open_maps();
  struct mapping mapping;
  while (next_mapping(&maps, &mapping)) {
    memset(&scan, 0, sizeof scan);
    scan.size = sizeof scan;
    scan.start = mapping.start > address ? mapping.start : address & ~(PAGE - 1);
    scan.end = mapping.end < address + length ? mapping.end : (address + length + PAGE - 1) & ~(PAGE - 1);
    scan.vec = (uintptr_t)regions;
    scan.vec_len = sizeof regions / sizeof *regions;
    scan.mask = scan.returned = 1 << 6; /* PAGE_IS_HUGE */
    while (scan.start < scan.end) {
      int filled = ioctl(file, _IOWR('f', 16, char[96]), &scan);
      if (filled < 0) give_up("PAGEMAP_SCAN");
      for (int i = 0; i < filled; ++i) found += (regions[i].end - regions[i].start) / PAGE;
      if (scan.walk_end <= scan.start) break;
      scan.start = scan.walk_end;
    }
  }
  close(maps.file);
  close(file);
  return found;
}
