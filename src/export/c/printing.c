static void print_heading(void) {
  printf("%5s  %-60s %8s %8s %6s", "line", "operation", "calls", "faults", "VMAs");
  if (MODEL != NULL) printf(" %12s %6s  (%s)", "faults", "VMAs", MODEL);
  printf("\n");
}

static void print_mappings(int64_t mappings) {
  if (mappings < 0) {
    printf("%6s", "-");
  } else {
    printf("%6ld", (long)mappings);
  }
}
