/* An access that a signal ends goes on behind it. */
static _Thread_local sigjmp_buf jump;
static _Thread_local volatile sig_atomic_t armed;
static _Thread_local struct {
  int number, code;
  uint64_t pc;
} caught;

static void handle(int number, siginfo_t *info, void *context) {
  if (!armed) {
    signal(number, SIG_DFL);
    return;
  }
  armed = 0;
  caught.number = number;
  caught.code = info->si_code;
#if defined(__x86_64__)
  caught.pc = (uint64_t)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
  caught.pc = ((ucontext_t *)context)->uc_mcontext.pc;
#else
#error "expected x86-64 or arm64"
#endif
  siglongjmp(jump, 1);
}

static void handle_signals(void) {
  struct sigaction action = {0};
  action.sa_sigaction = handle;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  const int numbers[] = {SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE};
  for (unsigned i = 0; i < sizeof numbers / sizeof *numbers; ++i) sigaction(numbers[i], &action, NULL);
}

typedef void (*routine)(uint64_t address, uint64_t value);

__attribute__((noinline, unused)) static void load(uint64_t address, uint64_t value) {
  (void)value;
  (void)*(volatile char *)address;
}
__attribute__((noinline, unused)) static void store(uint64_t address, uint64_t value) {
  *(volatile char *)address = (char)value;
}
__attribute__((noinline, unused)) static void atomic(uint64_t address, uint64_t value) {
  __atomic_fetch_add((uint64_t *)address, value, __ATOMIC_RELAXED);
}

__attribute__((noinline)) static void each(routine how, uint64_t address, uint64_t count, uint64_t stride, uint64_t value) {
  for (; count > 0; --count, address += stride) how(address, value);
}

__attribute__((noinline)) static void guarded(routine how, uint64_t address, uint64_t count, uint64_t stride, uint64_t value) {
  caught.number = 0;
  if (sigsetjmp(jump, 0) == 0) {
    armed = 1;
    each(how, address, count, stride, value);
  }
  armed = 0;
}

/* One access at address, address + stride, ... below address + length. */
__attribute__((noinline, unused)) static void touch(unsigned row, routine how, uint64_t address, uint64_t length,
                                                    uint64_t stride, uint64_t value) {
  uint64_t accesses = length / stride + (length % stride != 0);
  struct count before = count();
  guarded(how, address, accesses, stride, value);
  counted(row, before, 1, caught.number != 0);
  if (accesses > 0) count_mappings(row, address, (accesses - 1) * stride + 1);
}

/* A signal that nothing was said of ends the program. */
__attribute__((unused)) static void no_signal(unsigned row) {
  if (caught.number == 0) return;
  fprintf(stderr, "line %u: %s: ended by %s\n", operations[row].line, operations[row].text, strsignal(caught.number));
  shared->ended = 1;
  if (getpid() != main_process) _exit(1);
  exit(finish());
}

/* A code below 0 is any. */
__attribute__((unused)) static void expect_signal(unsigned row, int number, int code) {
  if (caught.number == number && (code < 0 || number == 0 || caught.code == code)) return;
  fail("line %u: %s: %s (code %d), expected %s\n", operations[row].line, operations[row].text,
       caught.number == 0 ? "no signal" : strsignal(caught.number), caught.code, number == 0 ? "none" : strsignal(number));
}
