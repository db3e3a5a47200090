/* Of an operation or a measure block, over all its executions. */
struct figures {
  uint64_t calls, faults, exceptions, signals;
  int64_t vmas; /* in its range, after the first execution; -1: it has none */
};
struct operation {
  unsigned line;
  int measure; /* the innermost block around it; -1: none */
  const char *text;
  int64_t calls, faults, vmas; /* on the model; -1: unknown */
};
struct measure {
  const char *name;
  int outer; /* the next block around it; -1: none */
};
