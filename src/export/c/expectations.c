static int unequal; /* a figure was not the same in each repetition */

__attribute__((unused)) static void expect(unsigned line, const char *text, int holds) {
  if (!holds || unequal) fail("line %u: %s: does not hold\n", line, text);
  unequal = 0;
}

__attribute__((unused)) static void expect_value(unsigned line, const char *text, uint64_t found, uint64_t expected) {
  if (found != expected || unequal) fail("line %u: %s: found %lu, expected %lu\n", line, text, found, expected);
  unequal = 0;
}
