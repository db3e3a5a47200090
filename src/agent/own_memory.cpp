#include "agent/own_memory.h"

#include <malloc.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

// Set by the linker, which chose the names.
extern "C" const char __executable_start;  // NOLINT(bugprone-reserved-identifier)
extern "C" const char _end;                // NOLINT(bugprone-reserved-identifier)

namespace faultline::agent {
namespace {

/// How much of the stack is made ready below the current frame.
constexpr std::size_t kStackAhead = 256 * 1024;

/// The executable's own segments. Other areas that can only be read are the kernel's (vvar), and reading some of their
/// pages is SIGBUS.
Range executable() {
  return {Addr{reinterpret_cast<std::uint64_t>(&__executable_start)}, Addr{reinterpret_cast<std::uint64_t>(&_end)}};
}

/// How much of it one operation uses.
constexpr std::size_t kStackNear = 4 * kPageSize;

template <std::size_t kBytes>
void touch_stack() {
  volatile char ahead[kBytes];
  for (std::size_t i = 0; i < kBytes; i += kPageSize) ahead[i] = 0;
  asm volatile("" : : "r"(ahead) : "memory");
}

}  // namespace

void keep_allocator_quiet() {
  mallopt(M_ARENA_MAX, 1);
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  mallopt(M_TOP_PAD, 1 << 20);
}

void reserve_heap(std::size_t bytes) {
  void* ahead = std::malloc(bytes);
  if (ahead == nullptr) return;
  std::memset(ahead, 1, bytes);
  // The compiler may otherwise drop the pair.
  asm volatile("" : : "r"(ahead) : "memory");
  std::free(ahead);
}

void OwnMemory::record(const ProcessMemory& memory) {
  touch_stack<kStackAhead>();
  count_ = 0;
  memory.for_each_area({Addr{0}, Addr{~std::uint64_t{0} >> 1}}, [&](const MappedArea& area) {
    // The ledger is large and mostly unused; it is touched where it is used.
    constexpr std::uint64_t kLargest = 32 << 20;
    if (count_ == areas_.size() || !has(area.prot, Prot::read) || area.range.bytes() > kLargest) return;
    if (!has(area.prot, Prot::write) && !area.range.overlaps(executable())) return;
    areas_[count_++] = {area.range, area.prot};
  });
}

void OwnMemory::touch(const Area& area) {
  for (Addr page = area.range.start; page < area.range.end; page = page + kPageSize) {
    auto* byte = reinterpret_cast<volatile char*>(page.value);
    const char content = *byte;
    if (has(area.prot, Prot::write)) *byte = content;
  }
}

void OwnMemory::touch() const {
  for (std::size_t i = 0; i < count_; ++i) touch(areas_[i]);
}

void OwnMemory::touch_near() const {
  touch_stack<kStackNear>();
  const char here = 0;
  const Addr frame{reinterpret_cast<std::uint64_t>(&here)};
  // In a static program the thread's own data lies in the heap.
  const Addr own_page = Addr{reinterpret_cast<std::uint64_t>(&errno)}.page_floor();
  const Range own_data{own_page - kPageSize, own_page + 2 * kPageSize};
  for (std::size_t i = 0; i < count_; ++i) {
    const Area& area = areas_[i];
    // Up to 6.1 the heap is one area with the end of the static data.
    touch({area.range.intersect(executable()), area.prot});
    if (!has(area.prot, Prot::write)) continue;
    touch({area.range.intersect(own_data), area.prot});
    // The callers' frames hold the kernel and the executor.
    if (area.range.contains(frame)) touch({{frame.page_floor(), area.range.end}, area.prot});
  }
}

std::span<std::byte> map_memory(std::size_t bytes, Sharing sharing) {
  const int flags = (sharing == Sharing::shared ? MAP_SHARED : MAP_PRIVATE) | MAP_ANONYMOUS | MAP_NORESERVE;
  void* mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
  if (mapped == MAP_FAILED) return {};
  return {static_cast<std::byte*>(mapped), bytes};
}

void fence_mappings() {
  const auto map = [](std::size_t bytes, char* fixed = nullptr) {
    const int flags = MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE | (fixed == nullptr ? 0 : MAP_FIXED);
    return static_cast<char*>(mmap(fixed, bytes, PROT_NONE, flags, -1, 0));
  };
  // Mappings go to the highest gap that holds them, so one that lands above the previous fence has filled a gap.
  char* lowest = map(kPageSize);
  for (std::size_t bytes = std::size_t{1} << 30; bytes >= kPageSize;) {
    char* filler = map(bytes);
    if (filler == MAP_FAILED) {
      bytes /= 2;
    } else if (filler < lowest) {
      munmap(filler, bytes);
      bytes /= 2;
    }
  }
  // What a fault maps around it depends on where a page lies in 64 KiB, what a huge page takes on 2 MiB.
  constexpr std::size_t kHuge = std::size_t{2} << 20;
  const std::size_t below = (reinterpret_cast<std::uintptr_t>(lowest) + kPageSize) % kHuge;
  map(kPageSize + below, lowest - below);
}

}  // namespace faultline::agent
