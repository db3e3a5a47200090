// The model beside the kernel of this machine: the same operations, as ratios.
#include <benchmark/benchmark.h>
#include <sys/mman.h>

#include <cstdint>

#include "mm/address_space.h"

namespace faultline::bench {
namespace {

constexpr std::uint64_t kPages = 32;
constexpr std::uint64_t kBytes = kPages * kPageSize;
constexpr Prot kReadWrite = Prot::read | Prot::write;

/// One mapping of the model, and one of the kernel, with the same calls.
class ModelMapping {
 public:
  explicit ModelMapping(std::uint64_t bytes = kBytes)
      : system_(*mm::parse_profile("6.18")),
        space_(system_),
        start_(*space_.mmap({}, bytes, kReadWrite, MapFlags::private_ | MapFlags::anonymous)) {}
  void protect(Prot prot) { benchmark::DoNotOptimize(space_.mprotect(start_, kBytes, prot)); }
  void store(std::uint64_t page) { benchmark::DoNotOptimize(space_.store(start_ + page * kPageSize, 1)); }
  void discard() { benchmark::DoNotOptimize(space_.madvise(start_, kBytes, Advice::dontneed)); }

 private:
  mm::System system_;
  mm::AddressSpace space_;
  Addr start_;
};

class KernelMapping {
 public:
  KernelMapping()
      : start_(static_cast<volatile char*>(
            ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {}
  ~KernelMapping() { ::munmap(address(), kBytes); }
  KernelMapping(const KernelMapping&) = delete;
  KernelMapping& operator=(const KernelMapping&) = delete;
  void protect(Prot prot) { ::mprotect(address(), kBytes, static_cast<int>(prot)); }
  void store(std::uint64_t page) { start_[page * kPageSize] = 1; }
  void discard() { ::madvise(address(), kBytes, MADV_DONTNEED); }

 private:
  void* address() const { return const_cast<char*>(start_); }
  volatile char* start_;
};

template <class Mapping>
void touch_all(Mapping& mapping) {
  for (std::uint64_t page = 0; page < kPages; ++page) mapping.store(page);
}

/// PROT_NONE and back over 32 touched pages.
template <class Mapping>
void protection_flip(benchmark::State& state) {
  Mapping mapping;
  touch_all(mapping);
  for (auto _ : state) {
    mapping.protect(Prot::none);
    mapping.protect(kReadWrite);
  }
}

/// The first store to each of 32 pages; dropping them again is part of each side's time, so the pages are equal work.
template <class Mapping>
void first_touch(benchmark::State& state) {
  Mapping mapping;
  for (auto _ : state) {
    touch_all(mapping);
    mapping.discard();
  }
}

void hit(benchmark::State& state) {
  ModelMapping mapping;
  touch_all(mapping);
  for (auto _ : state) {
    for (std::uint64_t page = 0; page < kPages; ++page) mapping.store(page);
  }
  state.counters["per_access"] = benchmark::Counter(static_cast<double>(state.iterations() * kPages),
                                                    benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

BENCHMARK(protection_flip<ModelMapping>)->Name("model/protection_flip_32_pages");
BENCHMARK(protection_flip<KernelMapping>)->Name("kernel/protection_flip_32_pages");
BENCHMARK(first_touch<ModelMapping>)->Name("model/first_touch_32_pages");
BENCHMARK(first_touch<KernelMapping>)->Name("kernel/first_touch_32_pages");
BENCHMARK(hit)->Name("access_that_hits_32_pages");

}  // namespace
}  // namespace faultline::bench
