#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "agent/process_memory.h"
#include "base/page.h"

/// The agent's own memory, kept from getting into the way of the program's: it takes no faults while a program is
/// measured, makes no mappings, and no mapping of the program merges with it.
namespace faultline::agent {

/// Makes malloc use one heap that only grows. Call first in main.
void keep_allocator_quiet();

/// Allocates ahead: this much can be allocated later without a new mapping or fault.
void reserve_heap(std::size_t bytes);

/// The areas that the process has before the program begins.
class OwnMemory {
 public:
  /// Takes stock. Call when everything of the agent is mapped.
  void record(const ProcessMemory& memory);
  /// Writes to every writable page, reads the others of the executable: none faults after that. Needed
  /// again in both processes after a fork, which write-protects them, before everything that happens is counted.
  void touch() const;
  /// The same for what a single operation uses: the executable with its static data, the stack in use and the thread's
  /// own data. Enough where only the operations themselves are counted, and fifty times cheaper.
  void touch_near() const;

 private:
  struct Area {
    Range range;
    Prot prot = Prot::none;
  };
  static void touch(const Area& area);

  std::array<Area, 64> areas_{};
  std::size_t count_ = 0;
};

/// Closes the gaps between the agent's mappings and lays a fence below the lowest that nothing can merge with, so that
/// the program's first mapping has nothing of the agent beside it. The fence ends a page below a multiple of 2 MiB,
/// where a kernel that does not randomize addresses begins to map (and the model does): so mappings lie alike on every
/// machine.
void fence_mappings();

/// Memory for what must not allocate later: anonymous, shared with forked processes or not.
enum class Sharing : std::uint8_t { shared, own };
std::span<std::byte> map_memory(std::size_t bytes, Sharing sharing);

}  // namespace faultline::agent
