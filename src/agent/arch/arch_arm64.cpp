#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <csignal>

#include "agent/arch.h"

// Each routine takes the address in x0 and the value in x1.
asm(R"(
  .text
  .arch_extension lse
  .p2align 4
  .globl faultline_routines, faultline_routine_load, faultline_routine_store, faultline_routine_atomic, faultline_routines_end
faultline_routines:
  ret
  .p2align 4
faultline_routine_load:
  ldrb w0, [x0]
  ret
  .p2align 4
faultline_routine_store:
  strb w1, [x0]
  ret
  .p2align 4
faultline_routine_atomic:
  ldadd x1, x2, [x0]
  ret
faultline_routines_end:
)");

namespace faultline::agent::arch {

std::uint64_t ticks_at_start() {
  std::uint64_t ticks = 0;
  asm volatile("isb\n\tmrs %0, cntvct_el0\n\tisb" : "=r"(ticks)::"memory");
  return ticks;
}

std::uint64_t ticks_at_stop() { return ticks_at_start(); }

double told_ticks_per_nanosecond() {
  std::uint64_t hertz = 0;
  asm volatile("mrs %0, cntfrq_el0" : "=r"(hertz));
  return static_cast<double>(hertz) / 1e9;
}

std::uint64_t system_call(long number, const std::uint64_t (&a)[6]) {
  register std::uint64_t x8 asm("x8") = static_cast<std::uint64_t>(number);
  register std::uint64_t x0 asm("x0") = a[0];
  register std::uint64_t x1 asm("x1") = a[1];
  register std::uint64_t x2 asm("x2") = a[2];
  register std::uint64_t x3 asm("x3") = a[3];
  register std::uint64_t x4 asm("x4") = a[4];
  register std::uint64_t x5 asm("x5") = a[5];
  asm volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
  return x0;
}

bool has_one_instruction_atomic() {
  constexpr unsigned long kAtomics = 1UL << 8;  // HWCAP_ATOMICS
  return (getauxval(AT_HWCAP) & kAtomics) != 0;
}

void load_each(std::uint64_t addr, std::uint64_t count, std::uint64_t stride) {
  for (; count != 0; --count, addr += stride) {
    std::uint32_t byte = 0;
    asm volatile("ldrb %w0, [%1]" : "=r"(byte) : "r"(addr) : "memory");
  }
}

void store_each(std::uint64_t addr, std::uint64_t count, std::uint64_t stride, std::uint8_t value) {
  const std::uint32_t word = value;
  for (; count != 0; --count, addr += stride) asm volatile("strb %w0, [%1]" : : "r"(word), "r"(addr) : "memory");
}

void atomic_each(std::uint64_t addr, std::uint64_t count, std::uint64_t stride, std::uint64_t addend) {
  for (; count != 0; --count, addr += stride) {
    std::uint64_t before = 0;
    asm volatile(".arch_extension lse\n\tldadd %1, %0, [%2]" : "=&r"(before) : "r"(addend), "r"(addr) : "memory");
  }
}

void fetch(std::uint64_t addr) { reinterpret_cast<void (*)()>(addr)(); }

bool fetched(std::uint64_t addr, std::uint64_t pc, int signal, int) {
  // A page of zeroes is the permanently undefined instruction.
  return pc == addr && (signal == SIGILL || signal == SIGTRAP);
}

void synchronize_instructions(std::uint64_t addr, std::size_t bytes) {
  auto* begin = reinterpret_cast<char*>(addr);
  __builtin___clear_cache(begin, begin + bytes);
}

void mark(std::uint64_t addr) {
  register std::uint64_t x0 asm("x0") = addr + 253;
  asm volatile("stur xzr, [x0, #-253]" : : "r"(x0) : "memory");
}

namespace {
/// The device's registers on QEMU's "virt" board: the data, then at 8 the selector, which is big-endian.
constexpr off_t kConfiguration = 0x0902'0000;
volatile std::uint8_t* configuration = nullptr;
}  // namespace

const char* open_configuration() {
  const int memory = open("/dev/mem", O_RDWR | O_SYNC | O_CLOEXEC);
  if (memory < 0) return "no /dev/mem (CONFIG_DEVMEM)";
  void* mapped = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, memory, kConfiguration);
  close(memory);
  if (mapped == MAP_FAILED) return "/dev/mem does not map the configuration device (CONFIG_IO_STRICT_DEVMEM?)";
  configuration = static_cast<volatile std::uint8_t*>(mapped);
  return nullptr;
}

void close_configuration() { munmap(const_cast<std::uint8_t*>(configuration), 4096); }

void select_configuration(std::uint16_t item) {
  *reinterpret_cast<volatile std::uint16_t*>(configuration + 8) = __builtin_bswap16(item);
}

void read_configuration(std::span<std::byte> bytes) {
  for (std::byte& byte : bytes) byte = std::byte{*configuration};
}

// Linux uses FEAT_S1POE from 6.12 on; no processor or emulator here has it.
bool has_protection_keys() { return false; }
std::uint32_t key_rights() { return 0; }
void set_key_rights(std::uint32_t) {}
void change_key_rights(std::uint32_t, std::uint32_t) {}

std::uint64_t program_counter(const void* ucontext) { return static_cast<const ucontext_t*>(ucontext)->uc_mcontext.pc; }

}  // namespace faultline::agent::arch
