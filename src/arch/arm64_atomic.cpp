#include "arch/arm64_atomic.h"

namespace faultline::arch {
namespace {

constexpr std::uint32_t field(std::uint32_t instruction, unsigned high, unsigned low) {
  return (instruction >> low) & ((1U << (high - low + 1)) - 1);
}
constexpr bool bit(std::uint32_t instruction, unsigned position) { return field(instruction, position, position) != 0; }

// The class "atomic memory operations":
//   31 30 29   27 26 25 24 23 22 21 20   16 15 14 12 11 10 9  5 4  0
//   size  1 1 1   V  0  0  A  R  1  Rs      o3 opc   0  0  Rn   Rt
// V = 1 is reserved. o3 = 0 is the eight LD<op>; o3 = 1 is SWP and what was given a place here later.
bool is_memory_atomic(std::uint32_t i) {
  const bool in_class = field(i, 29, 27) == 0b111 && field(i, 25, 24) == 0b00 && bit(i, 21) && field(i, 11, 10) == 0b00;
  const bool vector = bit(i, 26);
  if (!in_class || vector) return false;

  const bool o3 = bit(i, 15);
  if (!o3) return true;

  const std::uint32_t size = field(i, 31, 30);
  const bool rcw = size <= 1;  // read-check-write, one register or a pair
  const bool ordered = bit(i, 23) || bit(i, 22);
  switch (field(i, 14, 12)) {
    case 0:  // SWP
      return true;
    case 1:  // size 3 is ST64B: a store alone, which the processor reports as a write by itself
      return rcw;
    case 2:  // size 3 without ordering is ST64BV0
    case 3:  // … and ST64BV
      return rcw || (size == 3 && !ordered);
    default:  // LDAPR, LD64B: loads alone
      return false;
  }
}

//   31 30 29         23 22 21 20 16 15 14    10 9  5 4  0
//   size  0 0 1 0 0 0 1  L  1  Rs   o0 1 1 1 1 1 Rn   Rt
bool is_compare_and_swap(std::uint32_t i) {
  return field(i, 29, 23) == 0b0010001 && bit(i, 21) && field(i, 14, 10) == 0b11111;
}

//   31 30 29         23 22 21 20 16 15 14    10 9  5 4  0
//   0  sz 0 0 1 0 0 0 0  L  1  Rs   o0 1 1 1 1 1 Rn   Rt
bool is_compare_and_swap_pair(std::uint32_t i) {
  return !bit(i, 31) && field(i, 29, 23) == 0b0010000 && bit(i, 21) && field(i, 14, 10) == 0b11111;
}

}  // namespace

bool is_atomic_rmw(std::uint32_t instruction) {
  return is_memory_atomic(instruction) || is_compare_and_swap(instruction) || is_compare_and_swap_pair(instruction);
}

}  // namespace faultline::arch
