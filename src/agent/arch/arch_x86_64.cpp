#include <cpuid.h>
#include <sys/io.h>
#include <ucontext.h>

#include <csignal>

#include "agent/arch.h"

// Each routine takes the address in rdi and the value in rsi. `fetch` puts an address that no x86-64 processor accepts
// into rax: a page of zeroes, which means `add %al,(%rax)`, then ends in a general-protection fault and in no page
// fault.
asm(R"(
  .text
  .p2align 4
  .globl faultline_routines, faultline_routine_load, faultline_routine_store, faultline_routine_atomic, faultline_routines_end
faultline_routines:
  ret
  .p2align 4
faultline_routine_load:
  movb (%rdi), %al
  ret
  .p2align 4
faultline_routine_store:
  movb %sil, (%rdi)
  ret
  .p2align 4
faultline_routine_atomic:
  lock xaddq %rsi, (%rdi)
  ret
faultline_routines_end:

  .p2align 4
faultline_fetch:
  movabsq $0x8000000000000000, %rax
  subq $8, %rsp
  call *%rdi
  addq $8, %rsp
  ret
)");

extern "C" void faultline_fetch(std::uint64_t addr);

namespace faultline::agent::arch {

std::uint64_t ticks_at_start() {
  std::uint32_t low = 0;
  std::uint32_t high = 0;
  asm volatile("lfence\n\trdtsc\n\tlfence" : "=a"(low), "=d"(high)::"memory");
  return std::uint64_t{high} << 32 | low;
}

std::uint64_t ticks_at_stop() {
  std::uint32_t low = 0;
  std::uint32_t high = 0;
  std::uint32_t cpu = 0;
  asm volatile("rdtscp\n\tlfence" : "=a"(low), "=d"(high), "=c"(cpu)::"memory");
  return std::uint64_t{high} << 32 | low;
}

double told_ticks_per_nanosecond() { return 0; }

std::uint64_t system_call(long number, const std::uint64_t (&a)[6]) {
  std::uint64_t result = 0;
  register std::uint64_t r10 asm("r10") = a[3];
  register std::uint64_t r8 asm("r8") = a[4];
  register std::uint64_t r9 asm("r9") = a[5];
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a[0]), "S"(a[1]), "d"(a[2]), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return result;
}

bool has_one_instruction_atomic() { return true; }

void load_each(std::uint64_t addr, std::uint64_t count, std::uint64_t stride) {
  for (; count != 0; --count, addr += stride) {
    std::uint8_t byte = 0;
    asm volatile("movb (%1), %0" : "=q"(byte) : "r"(addr) : "memory");
  }
}

void store_each(std::uint64_t addr, std::uint64_t count, std::uint64_t stride, std::uint8_t value) {
  for (; count != 0; --count, addr += stride) asm volatile("movb %0, (%1)" : : "q"(value), "r"(addr) : "memory");
}

void atomic_each(std::uint64_t addr, std::uint64_t count, std::uint64_t stride, std::uint64_t addend) {
  for (; count != 0; --count, addr += stride) {
    std::uint64_t operand = addend;
    asm volatile("lock xaddq %0, (%1)" : "+r"(operand) : "r"(addr) : "memory");
  }
}

void fetch(std::uint64_t addr) { faultline_fetch(addr); }

bool fetched(std::uint64_t addr, std::uint64_t pc, int signal, int code) {
  constexpr int kSentByKernel = 0x80;  // SI_KERNEL: a general-protection fault, no page fault
  return pc == addr && ((signal == SIGSEGV && code == kSentByKernel) || signal == SIGILL || signal == SIGTRAP);
}

void synchronize_instructions(std::uint64_t, std::size_t) {}  // x86 keeps its instruction cache coherent

void mark(std::uint64_t addr) { asm volatile("movb $0, 0x314c4146(%%rax)" : : "a"(addr - 0x314c4146) : "memory"); }

// The device's ports on a PC.
constexpr std::uint16_t kSelectorPort = 0x510;
constexpr std::uint16_t kDataPort = 0x511;

const char* open_configuration() {
  return ioperm(kSelectorPort, 2, 1) == 0 ? nullptr : "no ioperm (CONFIG_X86_IOPL_IOPERM)";
}

void close_configuration() { ioperm(kSelectorPort, 2, 0); }

void select_configuration(std::uint16_t item) { outw(item, kSelectorPort); }

void read_configuration(std::span<std::byte> bytes) { insb(kDataPort, bytes.data(), bytes.size()); }

namespace {

// Asked as the process begins, so that nothing has to be written later.
const bool kHasProtectionKeys = [] {
  constexpr unsigned kOspke = 1U << 4;
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (c & kOspke) != 0;
}();

}  // namespace

bool has_protection_keys() { return kHasProtectionKeys; }

std::uint32_t key_rights() {
  if (!has_protection_keys()) return 0;
  std::uint32_t rights = 0;
  asm volatile("rdpkru" : "=a"(rights) : "c"(0) : "edx");
  return rights;
}

void set_key_rights(std::uint32_t rights) {
  if (has_protection_keys()) asm volatile("wrpkru" : : "a"(rights), "c"(0), "d"(0) : "memory");
}

void change_key_rights(std::uint32_t mask, std::uint32_t bits) {
  std::uint32_t rights = 0;
  asm volatile(
      "xorl %%ecx, %%ecx\n\t"
      "rdpkru\n\t"
      "andl %1, %0\n\t"
      "orl %2, %0\n\t"
      "xorl %%edx, %%edx\n\t"
      "wrpkru"
      : "=&a"(rights)
      : "r"(~mask), "r"(bits)
      : "ecx", "edx", "memory");
}

std::uint64_t program_counter(const void* ucontext) {
  return static_cast<std::uint64_t>(static_cast<const ucontext_t*>(ucontext)->uc_mcontext.gregs[REG_RIP]);
}

}  // namespace faultline::agent::arch
