// What the processor decides about addresses: where user space ends, and where the model places things in it.
#include <gtest/gtest.h>

#include "arch/arch.h"

namespace faultline::arch {
namespace {

constexpr Arch kArchs[] = {Arch::x86_64, Arch::arm64};

TEST(Geometry, NamesAreThoseOfTheCommandLine) {
  EXPECT_EQ(arch_name(Arch::x86_64), "x86-64");
  EXPECT_EQ(arch_name(Arch::arm64), "arm64");
}

TEST(Geometry, UserSpaceOfX86EndsOnePageBelow47Bits) {
  EXPECT_EQ(geometry(Arch::x86_64).task_size.value, (1ULL << 47) - kPageSize);
}

TEST(Geometry, UserSpaceOfArm64IsAll48Bits) { EXPECT_EQ(geometry(Arch::arm64).task_size.value, 1ULL << 48); }

TEST(Geometry, RangesAreFlushedUpTo33PagesOnX86And511OnArm64) {
  EXPECT_EQ(geometry(Arch::x86_64).flush_ceiling_pages, 33U);
  EXPECT_EQ(geometry(Arch::arm64).flush_ceiling_pages, 511U);
}

TEST(Geometry, HeapLiesBelowMappingsAndBothInsideUserSpaceOnPageBoundaries) {
  for (const Arch arch : kArchs) {
    const Geometry& g = geometry(arch);
    EXPECT_TRUE(g.mmap_base.page_aligned()) << arch_name(arch);
    EXPECT_TRUE(g.brk_base.page_aligned()) << arch_name(arch);
    EXPECT_LT(g.brk_base, g.mmap_base) << arch_name(arch);
    EXPECT_LE(g.mmap_base, g.task_size) << arch_name(arch);
    // Mappings grow downward and the heap upward; 16 TiB apart, no experiment brings them together.
    EXPECT_GE(g.mmap_base - g.brk_base, 1ULL << 44) << arch_name(arch);
  }
}

}  // namespace
}  // namespace faultline::arch
