__attribute__((unused)) static uint64_t per_repetition(uint64_t total, uint64_t repetitions) {
  unequal = repetitions == 0 || total % repetitions != 0;
  return repetitions == 0 ? 0 : total / repetitions;
}

__attribute__((unused)) static uint64_t faults_of(unsigned measure) {
  return per_repetition(shared->measures[measure].faults, shared->measures[measure].calls);
}

/* Those that the kernel counts for accesses and for calls that copy memory, and signals. */
__attribute__((unused)) static uint64_t exceptions_of(unsigned measure) {
  return per_repetition(shared->measures[measure].exceptions, shared->measures[measure].calls);
}
