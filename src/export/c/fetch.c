/* Whatever stands at the address: what it does with registers may not fault, so they hold an address that nobody can. */
__attribute__((noinline)) static void execute(uint64_t address, uint64_t value) {
  (void)value;
#if defined(__x86_64__)
  __asm__ volatile("sub $128, %%rsp\n\tcall *%0\n\tadd $128, %%rsp"
                   :
                   : "D"(address), "a"(0x8000000000000000ul)
                   : "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "memory", "cc");
#else
  ((void (*)(void))address)();
#endif
}

static void fetch(unsigned row, uint64_t address, uint64_t length, uint64_t stride) {
  uint64_t accesses = length / stride + (length % stride != 0), done = 0;
  struct count before = count();
  for (; done < accesses; ++done) {
    guarded(execute, address + done * stride, 1, 1, 0);
    int executed = caught.pc == address + done * stride &&
                   (caught.number == SIGILL || caught.number == SIGTRAP || (caught.number == SIGSEGV && caught.code == SI_KERNEL));
    if (executed) caught.number = 0;
    if (caught.number != 0) break;
  }
  counted(row, before, 1, caught.number != 0);
  if (accesses > 0) count_mappings(row, address, (accesses - 1) * stride + 1);
}
