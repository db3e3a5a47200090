/* Routines that a page of the program holds: at 0 a return, at 16, 32 and 48 a load, a store and an atomic. */
static const unsigned char routines[] __attribute__((aligned(16))) = {
#if defined(__x86_64__)
    0xc3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x8a, 0x07, 0xc3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    0x40, 0x88, 0x37, 0xc3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xf0, 0x48, 0x0f, 0xc1, 0x37, 0xc3,
#else
    0xc0, 0x03, 0x5f, 0xd6, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x00, 0x00, 0x40, 0x39, 0xc0, 0x03, 0x5f, 0xd6, 0, 0, 0, 0, 0,
    0, 0, 0, 0x01, 0x00, 0x00, 0x39, 0xc0, 0x03, 0x5f, 0xd6, 0, 0, 0, 0, 0, 0, 0, 0, 0x02, 0x00, 0x21, 0xf8, 0xc0, 0x03, 0x5f, 0xd6,
#endif
};

__attribute__((noinline)) static void copy_routines(uint64_t address, uint64_t value) {
  (void)value;
  for (size_t i = 0; i < sizeof routines; ++i) ((volatile unsigned char *)address)[i] = routines[i];
  __builtin___clear_cache((char *)address, (char *)address + sizeof routines);
}
#define ROUTINE(page, offset) ((routine)((page) + (offset)))
