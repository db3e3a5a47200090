#include "record/plugin/instructions.h"

#include "arch/arm64_atomic.h"

namespace faultline::record {
namespace {

Instruction classify_x86_64(std::span<const std::uint8_t> bytes) {
  bool locked = false;
  std::size_t i = 0;
  const auto is_prefix = [](std::uint8_t byte) {
    switch (byte) {
      case 0x26:
      case 0x2e:
      case 0x36:
      case 0x3e:
      case 0x64:
      case 0x65:
      case 0x66:
      case 0x67:
      case 0xf0:
      case 0xf2:
      case 0xf3:
        return true;
      default:
        return byte >> 4U == 4;  // REX
    }
  };
  for (; i < bytes.size() && is_prefix(bytes[i]); ++i) locked |= bytes[i] == 0xf0;
  if (locked) return Instruction::atomic;
  if (i + 1 >= bytes.size()) return Instruction::other;
  const unsigned operation = bytes[i + 1] >> 3U & 7U;
  switch (bytes[i]) {
    case 0x86:  // xchg, which locks by itself
    case 0x87:
      return Instruction::atomic;
    case 0xe8:
      return Instruction::call;
    case 0xff:
      return operation == 2 || operation == 3 ? Instruction::call : Instruction::other;
    case 0x0f:
      return bytes[i + 1] == 0x05 ? Instruction::system_call : Instruction::other;
    default:
      return Instruction::other;
  }
}

Instruction classify_arm64(std::span<const std::uint8_t> bytes) {
  if (bytes.size() < 4) return Instruction::other;
  const std::uint32_t word = bytes[0] | static_cast<std::uint32_t>(bytes[1]) << 8U |
                             static_cast<std::uint32_t>(bytes[2]) << 16U | static_cast<std::uint32_t>(bytes[3]) << 24U;
  if ((word & 0xfc000000U) == 0x94000000U) return Instruction::call;  // bl
  if ((word & 0xfffffc1fU) == 0xd63f0000U) return Instruction::call;  // blr
  if ((word & 0xfefff800U) == 0xd63f0800U) return Instruction::call;  // blraa and its kind
  if (word == 0xd4000001U) return Instruction::system_call;           // svc #0
  return arch::is_atomic_rmw(word) ? Instruction::atomic : Instruction::other;
}

}  // namespace

Instruction classify(Machine machine, std::span<const std::uint8_t> bytes) {
  return machine == Machine::arm64 ? classify_arm64(bytes) : classify_x86_64(bytes);
}

}  // namespace faultline::record
