// The parts of the recorder's plugin that work without QEMU.
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "record/plugin/call_stack.h"
#include "record/plugin/instructions.h"
#include "record/plugin/memory_map.h"
#include "record/plugin/page_states.h"

namespace faultline::record {
namespace {

Instruction x86_64(std::initializer_list<std::uint8_t> bytes) { return classify(Machine::x86_64, std::vector(bytes)); }
Instruction arm64(std::uint32_t word) {
  return classify(Machine::arm64,
                  std::vector{static_cast<std::uint8_t>(word), static_cast<std::uint8_t>(word >> 8U),
                              static_cast<std::uint8_t>(word >> 16U), static_cast<std::uint8_t>(word >> 24U)});
}

// The encodings are what GNU as makes of the instructions beside them.
TEST(Instructions, OfX86AreToldApart) {
  EXPECT_EQ(x86_64({0xf0, 0x48, 0x0f, 0xc1, 0x07}), Instruction::atomic);  // lock xadd %rax,(%rdi)
  EXPECT_EQ(x86_64({0x87, 0x07}), Instruction::atomic);                    // xchg %eax,(%rdi)
  EXPECT_EQ(x86_64({0x48, 0x86, 0x07}), Instruction::atomic);              // rex.W xchg %al,(%rdi)
  EXPECT_EQ(x86_64({0x66, 0xf0, 0x0f, 0xb1, 0x0f}), Instruction::atomic);  // lock cmpxchg %cx,(%rdi)
  EXPECT_EQ(x86_64({0xe8, 0, 0, 0, 0}), Instruction::call);                // call .+5
  EXPECT_EQ(x86_64({0xff, 0x15, 0, 0, 0, 0}), Instruction::call);          // call *0(%rip)
  EXPECT_EQ(x86_64({0x41, 0xff, 0xd4}), Instruction::call);                // call *%r12
  EXPECT_EQ(x86_64({0x0f, 0x05}), Instruction::system_call);               // syscall
  EXPECT_EQ(x86_64({0xff, 0xe0}), Instruction::other);                     // jmp *%rax
  EXPECT_EQ(x86_64({0xff, 0x07}), Instruction::other);                     // incl (%rdi)
  EXPECT_EQ(x86_64({0x48, 0x89, 0x07}), Instruction::other);               // mov %rax,(%rdi)
  EXPECT_EQ(x86_64({0xc3}), Instruction::other);                           // ret
}

TEST(Instructions, OfArm64AreToldApart) {
  EXPECT_EQ(arm64(0x94000001), Instruction::call);         // bl .+4
  EXPECT_EQ(arm64(0xd63f0020), Instruction::call);         // blr x1
  EXPECT_EQ(arm64(0xd4000001), Instruction::system_call);  // svc #0
  EXPECT_EQ(arm64(0xf8e00020), Instruction::atomic);       // ldaddal x0, x0, [x1]
  EXPECT_EQ(arm64(0xd65f03c0), Instruction::other);        // ret
  EXPECT_EQ(arm64(0x14000001), Instruction::other);        // b .+4
  EXPECT_EQ(arm64(0xc85f7c20), Instruction::other);        // ldxr x0, [x1]
}

TEST(PageStates, OnlyThePagesOfAnEventAreForgotten) {
  PageStates states;
  PageStates::Cache cache;
  constexpr std::uint64_t kStart = 0x7f00001ff000;  // across the border of two leaves
  for (std::uint64_t page = 0; page < 4; ++page) cache.at(states, kStart + page * 4096) = 1;
  states.forget(kStart + 4096, 1);
  states.forget(kStart + 4096 * 2 - 1, 2);
  EXPECT_EQ(cache.at(states, kStart), 1);
  EXPECT_EQ(cache.at(states, kStart + 4096), 0);
  EXPECT_EQ(cache.at(states, kStart + 4096 * 2), 0);
  EXPECT_EQ(cache.at(states, kStart + 4096 * 3), 1);
  states.forget(0, ~std::uint64_t{0});
  EXPECT_EQ(cache.at(states, kStart + 4096 * 3), 0);
  states.forget(~std::uint64_t{0} - 4096, 1U << 20U);  // wraps around
}

TEST(CallStack, NamesAPlaceByTheCallsThatLedThere) {
  std::vector<std::array<std::uint64_t, 3>> made;
  Sites sites;
  sites.on_made([&](std::uint32_t number, std::uint32_t caller, std::uint64_t address) {
    made.push_back({number, caller, address});
  });
  CallStack stack;
  stack.call(100);
  stack.call(200);
  EXPECT_EQ(stack.site(sites, 300), 3U);
  EXPECT_EQ(made, (std::vector<std::array<std::uint64_t, 3>>{{1, 0, 100}, {2, 1, 200}, {3, 2, 300}}));
  stack.returned(200);
  EXPECT_EQ(stack.site(sites, 300), 4U);  // called from elsewhere now
  EXPECT_EQ(made.back(), (std::array<std::uint64_t, 3>{4, 1, 300}));
  EXPECT_EQ(stack.site(sites, 300), 4U);
}

TEST(CallStack, AReturnTakesAwayWhatALongjmpLeft) {
  Sites sites;
  sites.on_made([](std::uint32_t, std::uint32_t, std::uint64_t) {});
  CallStack stack;
  stack.call(100);
  const std::uint32_t outside = stack.site(sites, 50);
  stack.call(200);
  stack.call(300);
  stack.call(400);
  stack.returned(200);  // 300 and 400 never returned
  EXPECT_EQ(stack.site(sites, 50), outside);
  stack.returned(999);  // of no call
  EXPECT_EQ(stack.site(sites, 50), outside);
}

TEST(CallStack, IsBounded) {
  Sites sites;
  sites.on_made([](std::uint32_t, std::uint32_t, std::uint64_t) {});
  CallStack stack;
  for (std::uint64_t i = 0; i < 1'000'000; ++i) stack.call(i);
  for (std::uint64_t i = 0; i < 2 * Sites::kMost; ++i) {
    EXPECT_LE(stack.site(sites, i), Sites::kMost);
  }
}

TEST(KnownMemory, IsWhatWasAddedWithoutWhatWasRemoved) {
  KnownMemory known;
  known.add(0x10000, 0x4000);
  known.remove(0x11000, 0x1000);
  EXPECT_TRUE(known.holds(0x10fff));
  EXPECT_FALSE(known.holds(0x11000));
  EXPECT_TRUE(known.holds(0x12000));
  EXPECT_FALSE(known.holds(0x14000));
  const Mapping unknown = known.unknown_part({0x8000, 0x20000, 3, false, 0, {}}, 0x11800);
  EXPECT_EQ(unknown.start, 0x11000U);
  EXPECT_EQ(unknown.end, 0x12000U);
  EXPECT_EQ(unknown.offset, 0x9000U);
}

}  // namespace
}  // namespace faultline::record
