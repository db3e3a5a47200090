__attribute__((unused)) static void expect_result(unsigned row, uint64_t result, uint64_t expected) {
  if (result == expected) return;
  int failed = result > UINT64_MAX - 4096;
  fail("line %u: %s: returned 0x%lx%s%s, expected 0x%lx\n", operations[row].line, operations[row].text, result,
       failed ? ", " : "", failed ? strerror((int)-result) : "", expected);
}

__attribute__((unused)) static void expect_error(unsigned row, uint64_t result, int error) {
  if (result == -(uint64_t)error) return;
  fail("line %u: %s: returned 0x%lx, expected \"%s\"\n", operations[row].line, operations[row].text, result, strerror(error));
}
