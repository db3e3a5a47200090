/* Shared with children. */
static struct {
  struct figures operations[OPERATIONS], measures[MEASURES];
  unsigned failures, unchecked, ended;
} *shared;

static pid_t main_process;
static char buffer[1 << 16]; /* of /proc/self/maps */

__attribute__((noreturn)) static void give_up(const char *what) {
  perror(what);
  _exit(2);
}

/* A line of /proc/self/maps at a time. */
struct maps {
  int file;
  ssize_t filled, at;
};
struct mapping {
  uint64_t start, end;
  unsigned protection;
};

static int next_character(struct maps *maps) {
  if (maps->at == maps->filled) {
    maps->filled = read(maps->file, buffer, sizeof buffer);
    maps->at = 0;
    if (maps->filled <= 0) return -1;
  }
  return buffer[maps->at++];
}

static uint64_t next_number(struct maps *maps, int *c) {
  uint64_t number = 0;
  while ((*c >= '0' && *c <= '9') || (*c >= 'a' && *c <= 'f')) {
    number = number << 4 | (uint64_t)(*c <= '9' ? *c - '0' : *c - 'a' + 10);
    *c = next_character(maps);
  }
  return number;
}

static int next_mapping(struct maps *maps, struct mapping *mapping) {
  int c = next_character(maps);
  if (c < 0) return 0;
  mapping->start = next_number(maps, &c);
  c = next_character(maps);
  mapping->end = next_number(maps, &c);
  mapping->protection = 0;
  for (int i = 0; i < 3; ++i) {
    c = next_character(maps);
    if (c != '-') mapping->protection |= 1u << i;
  }
  while (c >= 0 && c != '\n') c = next_character(maps);
  return mapping->start < (uint64_t)1 << 63; /* no mapping of ours is above */
}

static struct maps open_maps(void) {
  struct maps maps = {open("/proc/self/maps", O_RDONLY | O_CLOEXEC), 0, 0};
  if (maps.file < 0) give_up("/proc/self/maps");
  return maps;
}

/* Mappings that overlap the range. */
static uint64_t mappings(uint64_t address, uint64_t length) {
  uint64_t first = address & ~(PAGE - 1), found = 0;
  uint64_t last = length > UINT64_MAX - PAGE - address ? UINT64_MAX - PAGE : (address + length + PAGE - 1) & ~(PAGE - 1);
  struct maps maps = open_maps();
  struct mapping mapping;
  while (next_mapping(&maps, &mapping)) found += mapping.start < last && mapping.end > first;
  close(maps.file);
  return found;
}

/* Those of the reproducer itself among them. */
__attribute__((unused)) static uint64_t all_mappings(void) { return mappings(0, UINT64_MAX); }

struct count {
  uint64_t minor, all;
};
static struct count count(void) {
  struct rusage usage;
  getrusage(RUSAGE_THREAD, &usage);
  struct count now = {(uint64_t)usage.ru_minflt, (uint64_t)usage.ru_minflt + (uint64_t)usage.ru_majflt};
  return now;
}

static int touch_object(struct dl_phdr_info *object, size_t size, void *first) {
  (void)size;
  uint64_t relro = 0, relro_end = 0;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    if (object->dlpi_phdr[i].p_type != PT_GNU_RELRO) continue;
    relro = object->dlpi_addr + object->dlpi_phdr[i].p_vaddr;
    relro_end = relro + object->dlpi_phdr[i].p_memsz;
  }
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    if (object->dlpi_phdr[i].p_type != PT_LOAD || (object->dlpi_phdr[i].p_flags & PF_R) == 0) continue;
    uint64_t start = object->dlpi_addr + object->dlpi_phdr[i].p_vaddr;
    uint64_t end = start + object->dlpi_phdr[i].p_memsz;
    for (uint64_t page = start & ~(PAGE - 1); page < end; page += PAGE) {
      volatile char *byte = (volatile char *)(page < start ? start : page);
      char content = *byte;
      int writable = (object->dlpi_phdr[i].p_flags & PF_W) != 0 && !(page < relro_end && page + PAGE > relro);
      if (writable && *(int *)first) *byte = content;
    }
  }
  *(int *)first = 0; /* the reproducer itself comes first */
  return 0;
}

/* The reproducer's own pages take their faults now, not while the program's are counted. */
__attribute__((noinline)) static void settle(void) {
  volatile char stack[32 * 1024];
  for (size_t i = 0; i < sizeof stack; i += PAGE) stack[i] = 0;
  int first = 1;
  dl_iterate_phdr(touch_object, &first);
  *(volatile int *)&errno = 0;
  for (char *page = (char *)shared; page < (char *)(shared + 1); page += PAGE) __atomic_fetch_add(page, 0, __ATOMIC_RELAXED);
  __atomic_fetch_add(&shared->ended, 0, __ATOMIC_RELAXED);
  (void)mappings(0, PAGE);
  (void)count();
}

static void add(uint64_t *to, uint64_t amount) { __atomic_fetch_add(to, amount, __ATOMIC_RELAXED); }

static void counted(unsigned row, struct count before, int faults_are_exceptions, unsigned signals) {
  struct count after = count();
  uint64_t exceptions = (faults_are_exceptions ? after.all - before.all : 0) + signals;
  struct figures *figures = &shared->operations[row];
  add(&figures->calls, 1);
  add(&figures->faults, after.minor - before.minor);
  add(&figures->signals, signals);
  for (int m = operations[row].measure; m >= 0; m = measures[m].outer) {
    add(&shared->measures[m].faults, after.minor - before.minor);
    add(&shared->measures[m].exceptions, exceptions);
  }
}

static void count_mappings(unsigned row, uint64_t address, uint64_t length) {
  if (shared->operations[row].calls != 1 || length == 0) return;
  shared->operations[row].vmas = (int64_t)mappings(address, length);
}

/* The result, or minus the error. */
__attribute__((noinline)) static uint64_t call(unsigned row, long number, const uint64_t a[6]) {
  struct count before = count();
  long returned = syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
  uint64_t result = returned == -1 ? -(uint64_t)errno : (uint64_t)returned;
  int copies = number == SYS_read || number == SYS_write || number == SYS_mincore;
  counted(row, before, copies, 0);
  int failed = result > UINT64_MAX - 4096;
  if (number == SYS_mmap) {
    if (!failed || a[0] != 0) count_mappings(row, failed ? a[0] : result, a[1]);
  } else if (number == SYS_mremap) {
    count_mappings(row, failed ? a[0] : result, failed ? a[1] : a[2]);
  } else if (number == SYS_read || number == SYS_write) {
    count_mappings(row, a[1], a[2]);
  } else if (number == SYS_munmap || number == SYS_mprotect || number == SYS_pkey_mprotect || number == SYS_madvise ||
             number == SYS_mseal || number == SYS_mlock || number == SYS_mlock2 || number == SYS_munlock ||
             number == SYS_msync || number == SYS_mincore) {
    count_mappings(row, a[0], a[1]);
  }
  return result;
}
#define CALL(row, number, ...) call(row, number, (const uint64_t[6]){__VA_ARGS__})

static int finish(void) {
  unsigned different = 0;
  print_heading();
  for (unsigned i = 0; i < OPERATIONS; ++i) {
    const struct operation *operation = &operations[i];
    const struct figures *figures = &shared->operations[i];
    int same = MODEL == NULL || ((int64_t)figures->calls == operation->calls && (int64_t)figures->faults == operation->faults &&
                                 (operation->vmas < 0 || figures->vmas < 0 || figures->vmas == operation->vmas));
    different += !same;
    if (ANY_MEASURE && operation->measure < 0 && same) continue;
    printf("%5u  %-60s %8lu %8lu ", operation->line, operation->text, figures->calls, figures->faults);
    print_mappings(figures->vmas);
    if (MODEL != NULL && operation->faults >= 0) {
      printf(" %12ld ", (long)operation->faults);
      print_mappings(operation->vmas);
    }
    printf(same ? "\n" : "  differs\n");
  }
  if (MODEL != NULL && different == 0) printf("\nfaults and VMAs as %s has them\n", MODEL);
  if (MODEL != NULL && different > 0) printf("\noperations with other figures than %s has: %u\n", MODEL, different);
  if (shared->unchecked > 0) printf("expectations not checked: %u\n", shared->unchecked);
  if (shared->failures > 0) printf("results or expectations that did not hold: %u\n", shared->failures);
  if (shared->failures == 0 && !shared->ended) printf("all results held\n");
  return shared->failures > 0 || shared->ended;
}

__attribute__((format(printf, 1, 2))) static void fail(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  __atomic_fetch_add(&shared->failures, 1, __ATOMIC_RELAXED);
}
