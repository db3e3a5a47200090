static uint64_t protection(uint64_t address) {
  struct maps maps = open_maps();
  struct mapping mapping;
  uint64_t found = UNMAPPED;
  while (next_mapping(&maps, &mapping)) {
    if (mapping.start <= address && address < mapping.end) found = mapping.protection;
  }
  close(maps.file);
  return found;
}
