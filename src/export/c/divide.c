static uint64_t divisor(uint64_t value) {
  if (value != 0) return value;
  fprintf(stderr, "a division by 0\n");
  _exit(2);
}
