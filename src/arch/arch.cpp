#include "arch/arch.h"

namespace faultline::arch {
namespace {

// Four levels of 512 entries give 48 bits. x86-64 leaves the upper half to the kernel and keeps one guard page below
// the border; arm64 has a translation table of its own for the upper half, so that a user owns all 48 bits. mmap_base
// and brk_base are where the kernel puts them for a position-independent program when it does not randomise (two thirds
// of the space for the program, the stack's gap below the top), rounded so that a person can read them.
//
// x86-64 flushes ranges up to tlb_single_page_flush_ceiling itself, 33; arm64 turns a range of MAX_DVM_OPS pages, 512,
// into a full flush already, so the last that is flushed as a range has 511.
constexpr Geometry kX86_64{.task_size = Addr{0x7fff'ffff'f000},
                           .mmap_base = Addr{0x7fff'f7ff'f000},
                           .brk_base = Addr{0x5555'5557'0000},
                           .flush_ceiling_pages = 33};
constexpr Geometry kArm64{.task_size = Addr{0x1'0000'0000'0000},
                          .mmap_base = Addr{0xffff'f7ff'f000},
                          .brk_base = Addr{0xaaaa'aaac'0000},
                          .flush_ceiling_pages = 511};

}  // namespace

std::string_view arch_name(Arch arch) {
  switch (arch) {
    case Arch::x86_64:
      return "x86-64";
    case Arch::arm64:
      return "arm64";
  }
  return "arch?";
}

const Geometry& geometry(Arch arch) { return arch == Arch::arm64 ? kArm64 : kX86_64; }

}  // namespace faultline::arch
