#pragma once

#include <cstdint>

/// What the agent tells the plugin: one value of 12 bits by each execution of one particular store instruction, whose
/// address holds it. It needs no driver, no device and no system call, and the plugin sees it at once.
namespace faultline::run {

/// The instruction's bytes.
inline constexpr std::uint8_t kX86Mark[] = {0xc6, 0x80, 0x46, 0x41, 0x4c, 0x31, 0x00};  // movb $0, 0x314c4146(%rax)
inline constexpr std::uint8_t kArm64Mark[] = {0x1f, 0x30, 0x10, 0xf8};                  // stur xzr, [x0, #-253]

inline constexpr std::uint32_t kMarkMask = 0xfff;

/// Values below 256 are bytes of a message for the host.
enum class Mark : std::uint32_t {
  digit = 0x100,          // + 8 bits, which are shifted into a number: the argument of the next mark
  window_begins = 0x200,  // around what an operation executes; argument: see mark_argument()
  window_ends,
  operation_ends,     // after one or more windows; argument: the same
  repetition_begins,  // of a measure block; argument: row
  repetition_ends,    // argument: see mark_argument()
  message_ends,       // hands all bytes and all windows to the host
};

/// What becomes of an execution: a sample of its row's instructions, a part of its row's counts, or both.
inline constexpr std::uint32_t kSampledFlag = 1;
inline constexpr std::uint32_t kCountedFlag = 2;
constexpr std::uint32_t mark_argument(std::uint32_t row, std::uint32_t flags) { return row << 2 | flags; }
constexpr std::uint32_t row_of_mark(std::uint32_t argument) { return argument >> 2; }

/// The argument of a window that another one began in.
inline constexpr std::uint32_t kBrokenWindow = 0xffffffff;

/// What the plugin writes for each of the marks window_ends, operation_ends, repetition_begins and repetition_ends, in
/// their order.
struct WindowRecord {
  std::uint32_t mark = 0;
  std::uint32_t argument = 0;
  std::uint64_t instructions = 0;  // of a window: executed in kernel mode between begin and end, without interrupts
  std::uint64_t faults = 0;        // of a window: page faults taken as exceptions, in user mode or in the kernel
  std::uint64_t interrupts = 0;    // instructions of interrupts in the window, and of what they scheduled
  std::uint64_t ipis = 0;          // of a window: function calls that were sent to other processors
  std::uint64_t processor = 0;     // that executed the mark
};

}  // namespace faultline::run
