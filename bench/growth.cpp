// How the model's cost and memory grow with the number of VMAs and of pages.
#include <benchmark/benchmark.h>
#include <malloc.h>

#include <cstdint>

#include "mm/address_space.h"

namespace faultline::bench {
namespace {

constexpr Prot kReadWrite = Prot::read | Prot::write;
constexpr mm::Tunables kNoLimit{.max_map_count = ~std::uint64_t{0}};

double heap_in_use() {
  const struct mallinfo2 info = mallinfo2();
  return static_cast<double>(info.uordblks + info.hblkhd);
}

/// An address space with `count` VMAs of one page each, every second one without access.
struct ManyVmas {
  explicit ManyVmas(std::uint64_t count)
      : start(*space.mmap({}, count * kPageSize, kReadWrite, MapFlags::private_ | MapFlags::anonymous)) {
    for (std::uint64_t i = 0; i + 1 < count; i += 2) {
      benchmark::DoNotOptimize(space.mprotect(start + i * kPageSize, kPageSize, Prot::none));
    }
  }
  mm::System system{*mm::parse_profile("6.18"), kNoLimit};
  mm::AddressSpace space{system};
  Addr start;
};

/// A page's protection is changed and changed back: two VMAs vanish and two appear.
void flip_among_vmas(benchmark::State& state) {
  const auto count = static_cast<std::uint64_t>(state.range(0));
  const double before = heap_in_use();
  ManyVmas many(count);
  state.counters["bytes_per_vma"] = (heap_in_use() - before) / static_cast<double>(count);
  std::uint64_t next = 1;
  for (auto _ : state) {
    // A multiplicative walk over all VMAs, so that no run profits from the last one's neighbourhood.
    next = next * 48271 % 2147483647;
    const Addr page = many.start + next % (count / 2 + 1) * 2 % count * kPageSize;
    benchmark::DoNotOptimize(many.space.mprotect(page, kPageSize, kReadWrite));
    benchmark::DoNotOptimize(many.space.mprotect(page, kPageSize, Prot::none));
  }
}

/// PROT_NONE and back over all of the pages of one mapping.
void flip_of_pages(benchmark::State& state) {
  const auto pages = static_cast<std::uint64_t>(state.range(0));
  const double before = heap_in_use();
  mm::System system(*mm::parse_profile("6.18"));
  mm::AddressSpace space(system);
  const double empty = heap_in_use() - before;
  const Addr start = *space.mmap({}, pages * kPageSize, kReadWrite, MapFlags::private_ | MapFlags::anonymous);
  for (std::uint64_t i = 0; i < pages; ++i) benchmark::DoNotOptimize(space.store(start + i * kPageSize, 1));
  state.counters["bytes_per_page"] = (heap_in_use() - before - empty) / static_cast<double>(pages);
  for (auto _ : state) {
    benchmark::DoNotOptimize(space.mprotect(start, pages * kPageSize, Prot::none));
    benchmark::DoNotOptimize(space.mprotect(start, pages * kPageSize, kReadWrite));
  }
  state.counters["per_page"] = benchmark::Counter(static_cast<double>(state.iterations()) * static_cast<double>(pages),
                                                  benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

BENCHMARK(flip_among_vmas)->Name("growth/flip_among_vmas")->Arg(1)->Arg(1000)->Arg(100000)->Arg(1000000);
BENCHMARK(flip_of_pages)->Name("growth/flip_of_pages")->Arg(1)->Arg(32)->Arg(1000)->Arg(100000)->Arg(1000000);

}  // namespace
}  // namespace faultline::bench
