static void not_checked(unsigned line, const char *text, const char *why) {
  fprintf(stderr, "line %u: %s: not checked: %s\n", line, text, why);
  __atomic_fetch_add(&shared->unchecked, 1, __ATOMIC_RELAXED);
}
