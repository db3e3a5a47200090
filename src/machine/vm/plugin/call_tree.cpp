#include "machine/vm/plugin/call_tree.h"

namespace faultline::machine::vm {
namespace {

constexpr std::uintptr_t kCalls = 1;
constexpr std::uintptr_t kReturns = 2;

std::uintptr_t x86_kind(std::span<const std::uint8_t> bytes) {
  std::size_t at = 0;
  while (at < bytes.size() && (bytes[at] == 0xf3 || bytes[at] == 0x66 || bytes[at] == 0x3e || bytes[at] == 0x2e ||
                               (bytes[at] & 0xf0) == 0x40)) {
    ++at;
  }
  if (at >= bytes.size()) return 0;
  if (bytes[at] == 0xe8) return kCalls;
  if (bytes[at] == 0xc3 || bytes[at] == 0xc2) return kReturns;
  const bool indirect_call = bytes[at] == 0xff && at + 1 < bytes.size() && (bytes[at + 1] >> 3 & 7) == 2;
  return indirect_call ? kCalls : 0;
}

std::uintptr_t arm64_kind(std::span<const std::uint8_t> bytes) {
  if (bytes.size() < 4) return 0;
  const std::uint32_t word = std::uint32_t{bytes[0]} | std::uint32_t{bytes[1]} << 8 | std::uint32_t{bytes[2]} << 16 |
                             std::uint32_t{bytes[3]} << 24;
  if ((word & 0xfc000000) == 0x94000000 || (word & 0xfffff000) == 0xd63f0000) return kCalls;  // bl, blr and blraa
  if ((word & 0xfffff000) == 0xd65f0000) return kReturns;                                     // ret and retaa
  return 0;
}

}  // namespace

std::uintptr_t place_of(std::uint32_t function, std::span<const std::uint8_t> bytes, bool arm64) {
  return std::uintptr_t{function} << 2 | (arm64 ? arm64_kind(bytes) : x86_kind(bytes));
}

std::uint32_t CallTree::child(std::uint32_t parent, std::uint32_t function, std::uint32_t argument) {
  // A root is told apart by its row.
  const std::uint64_t above = parent == kNoNode ? std::uint64_t{1} << 31 | argument : parent;
  const auto [found, fresh] = children_.try_emplace(above << 32 | function, static_cast<std::uint32_t>(nodes_.size()));
  if (fresh) nodes_.push_back({argument, parent, function, 0, 0, 0});
  return found->second;
}

void Walker::restart(std::uint32_t argument) {
  argument_ = argument;
  current_ = kNoNode;
  next_ = Next::same;
}

void Walker::step(CallTree& tree, std::uintptr_t place) {
  const auto function = static_cast<std::uint32_t>(place >> 2);
  std::uint32_t at = current_;
  if (next_ == Next::called) {
    at = tree.child(at, function, argument_);
    ++tree.node(at).calls;
  } else {
    if (next_ == Next::returned && at != kNoNode) at = tree.node(at).parent;
    if (at == kNoNode || tree.node(at).function != function) {
      // A jump to another function takes its caller's place, and so does what follows a return to somewhere else.
      at = tree.child(at == kNoNode ? kNoNode : tree.node(at).parent, function, argument_);
      ++tree.node(at).calls;
    }
  }
  ++tree.node(at).instructions;
  current_ = at;
  next_ = (place & kCalls) != 0 ? Next::called : (place & kReturns) != 0 ? Next::returned : Next::same;
}

}  // namespace faultline::machine::vm
