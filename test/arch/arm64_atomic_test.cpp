// The decode of the v5 patch, over everything that can decide it. Four sources say what is right: the masks of section
// B.4, its list of instructions by name, and two disassemblers.
#include "arch/arm64_atomic.h"

#include <capstone/capstone.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace faultline::arch {
namespace {

using Word = std::uint32_t;

/// A set of encodings: those that agree with `value` in the bits of `mask`.
struct Encodings {
  Word mask;
  Word value;
  constexpr bool contains(Word i) const { return (i & mask) == value; }
};

// Section B.4.
constexpr Encodings kClass{0x3b200c00, 0x38200000};
constexpr std::array<Encodings, 4> kFilter{
    {{0x3f207c00, 0x38200000}, {0x3f208c00, 0x38200000}, {0x7fe06c00, 0x78202000}, {0xbf204c00, 0x38200000}}};
constexpr Encodings kCas{0x3fa07c00, 0x08a07c00};
constexpr Encodings kCasp{0xbfa07c00, 0x08207c00};

bool accepted_by_masks(Word i) {
  if (kCas.contains(i) || kCasp.contains(i)) return true;
  if (!kClass.contains(i)) return false;
  for (const Encodings& e : kFilter) {
    if (e.contains(i)) return true;
  }
  return false;
}

/// Calls `visit` for every word of the set: each combination of the bits that the mask leaves free.
template <class Visit>
void for_each(Encodings set, Visit visit) {
  const Word free = ~set.mask;
  Word chosen = 0;
  do {
    visit(set.value | chosen);
    chosen = (chosen - free) & free;  // the next subset of `free`
  } while (chosen != 0);
}

// The bits that any of the masks looks at, the rest being registers (Rs, Rn, Rt).
constexpr Word kDeciding = 0xffe0fc00;
static_assert(((kClass.mask | kCas.mask | kCasp.mask | kFilter[0].mask | kFilter[1].mask | kFilter[2].mask |
                kFilter[3].mask) &
               ~kDeciding) == 0);

constexpr Word registers(Word rs, Word rn, Word rt) { return rs << 16 | rn << 5 | rt; }
// Rs, Rn, Rt. CASP takes an even Rs and Rt, an ST alias wants Rt = 31, LDAPR and LD64B want Rs = 31.
constexpr std::array<Word, 4> kRegisters{registers(0, 0, 0), registers(2, 3, 4), registers(30, 31, 31),
                                         registers(31, 5, 6)};

/// Every combination of the deciding bits, each with a few registers: a sample of all 2^32 words that leaves no case
/// out.
template <class Visit>
void for_each_decision(Visit visit) {
  for (const Word r : kRegisters) {
    for_each(Encodings{~kDeciding, r}, visit);
  }
}

constexpr Word encode(Word size, Word vector, Word a, Word r, Word o3, Word opc, Word regs) {
  return kClass.value | size << 30 | vector << 26 | a << 23 | r << 22 | o3 << 15 | opc << 12 | regs;
}

/// The list of B.4 as a table: what stands at each place of the class, and whether the patch takes it.
struct Place {
  std::string_view name;
  bool accepted;
};
Place place(Word size, Word vector, Word a, Word r, Word o3, Word opc) {
  static constexpr std::array<std::string_view, 8> kLoadOps{"LDADD",  "LDCLR",  "LDEOR",  "LDSET",
                                                            "LDSMAX", "LDSMIN", "LDUMAX", "LDUMIN"};
  if (vector == 1) return {"reserved", false};
  if (o3 == 0) return {kLoadOps[opc], true};
  if (opc == 0) return {"SWP", true};
  if (opc <= 3 && size <= 1) return {"RCW", true};
  if (opc >= 2 && opc <= 3 && size == 3 && a == 0 && r == 0) return {"ST64BV", true};
  if (opc == 1 && size == 3) return {"ST64B", false};
  return {"LDAPR, LD64B or unallocated", false};
}

TEST(Arm64Atomic, DecodesEveryPlaceOfTheClassAsTheListOfInstructionsSays) {
  std::map<std::string_view, int> seen;
  for (Word bits = 0; bits < 1U << 9; ++bits) {
    const Word size = bits & 3;
    const Word vector = bits >> 2 & 1;
    const Word a = bits >> 3 & 1;
    const Word r = bits >> 4 & 1;
    const Word o3 = bits >> 5 & 1;
    const Word opc = bits >> 6 & 7;
    const Place expected = place(size, vector, a, r, o3, opc);
    ++seen[expected.name];
    for (const Word regs : kRegisters) {
      EXPECT_EQ(is_atomic_rmw(encode(size, vector, a, r, o3, opc, regs)), expected.accepted)
          << expected.name << " size=" << size << " V=" << vector << " A=" << a << " R=" << r << " o3=" << o3
          << " opc=" << opc;
    }
  }
  // The list covers the class: 4 sizes × 4 orderings of nine instructions, 3 × 2 × 4 RCW, two ST64BV.
  EXPECT_EQ(seen["LDADD"], 16);
  EXPECT_EQ(seen["LDUMIN"], 16);
  EXPECT_EQ(seen["SWP"], 16);
  EXPECT_EQ(seen["RCW"], 24);
  EXPECT_EQ(seen["ST64BV"], 2);
}

TEST(Arm64Atomic, AgreesWithTheMasksOnAll16777216WordsOfTheClass) {
  std::uint64_t words = 0;
  std::uint64_t differ = 0;
  for_each(kClass, [&](Word i) {
    ++words;
    differ += is_atomic_rmw(i) != accepted_by_masks(i);
  });
  EXPECT_EQ(words, 1U << 24);
  EXPECT_EQ(differ, 0U);
}

TEST(Arm64Atomic, AcceptsEveryWordOfCompareAndSwap) {
  std::uint64_t words = 0;
  std::uint64_t refused = 0;
  for (const Encodings set : {kCas, kCasp}) {
    for_each(set, [&](Word i) {
      ++words;
      refused += !is_atomic_rmw(i);
    });
  }
  EXPECT_EQ(words, (1U << 19) + (1U << 18));
  EXPECT_EQ(refused, 0U);
}

TEST(Arm64Atomic, AgreesWithTheMasksOnEveryCombinationOfTheBitsThatDecide) {
  std::uint64_t words = 0;
  std::uint64_t accepted = 0;
  for_each_decision([&](Word i) {
    ++words;
    accepted += is_atomic_rmw(i);
    ASSERT_EQ(is_atomic_rmw(i), accepted_by_masks(i)) << std::hex << i;
  });
  EXPECT_EQ(words, kRegisters.size() << 17);
  // By hand, per choice of registers: 9 × 16 of LD<op> and SWP, 24 RCW, 2 ST64BV, and CAS 4 sizes and CASP 2 sizes,
  // each with 4 orderings.
  EXPECT_EQ(accepted, kRegisters.size() * (9 * 16 + 24 + 2 + 16 + 8));
}

/// What a disassembler calls a word; empty when it does not know it.
using Mnemonic = std::string;

/// Capstone 4 knows arm64 as it was before it had these instructions, so it can tell what must be refused.
std::vector<Mnemonic> capstone_mnemonics(const std::vector<Word>& words) {
  csh handle = 0;
  if (cs_open(CS_ARCH_ARM64, CS_MODE_LITTLE_ENDIAN, &handle) != CS_ERR_OK) throw std::runtime_error("cs_open");
  cs_insn* instruction = cs_malloc(handle);
  std::vector<Mnemonic> names;
  names.reserve(words.size());
  for (const Word& word : words) {
    std::array<std::uint8_t, 4> bytes{};
    std::memcpy(bytes.data(), &word, bytes.size());
    const std::uint8_t* code = bytes.data();
    std::size_t left = bytes.size();
    std::uint64_t address = 0;
    names.emplace_back(cs_disasm_iter(handle, &code, &left, &address, instruction) ? instruction->mnemonic : "");
  }
  cs_free(instruction, 1);
  cs_close(&handle);
  return names;
}

/// The disassembler of binutils 2.40 knows all of them but the read-check-write group.
std::vector<Mnemonic> binutils_mnemonics(const std::vector<Word>& words) {
  const std::string file = testing::TempDir() + "faultline-arm64-" + std::to_string(getpid());
  std::ofstream(file, std::ios::binary)
      .write(reinterpret_cast<const char*>(words.data()), static_cast<std::streamsize>(words.size() * sizeof(Word)));
  const std::string command = FAULTLINE_OBJDUMP " -D -z -b binary -m aarch64 " + file;
  std::FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("popen");
  std::vector<Mnemonic> names;
  names.reserve(words.size());
  std::array<char, 512> line{};
  while (std::fgets(line.data(), line.size(), pipe) != nullptr) {
    // "   offset:<tab>word <tab>mnemonic<tab>operands"; an unknown word is ".inst 0x… ; undefined".
    unsigned long long offset = 0;
    std::array<char, 32> name{};
    if (std::sscanf(line.data(), " %llx:\t%*8[0-9a-f] \t%31[^ \t\n]", &offset, name.data()) != 2) continue;
    if (offset != names.size() * sizeof(Word)) break;  // a word was passed over; the caller sees the count
    names.emplace_back(name[0] == '.' ? "" : name.data());
  }
  pclose(pipe);
  std::remove(file.c_str());
  return names;
}

std::vector<Word> all_decisions() {
  std::vector<Word> words;
  for_each_decision([&](Word i) { words.push_back(i); });
  return words;
}

/// The mnemonics of the read-modify-write instructions: an operation, an ordering and a size; and those two that store
/// 64 bytes and return a status.
std::set<Mnemonic> rmw_mnemonics() {
  std::set<Mnemonic> names{"st64bv", "st64bv0"};
  const std::vector<std::string> operations{"add", "clr", "eor", "set", "smax", "smin", "umax", "umin"};
  for (const std::string size : {"", "b", "h"}) {
    for (const std::string order : {"", "a", "l", "al"}) {
      for (const std::string& operation : operations) names.insert("ld" + operation + order + size);
      names.insert("swp" + order + size);
      names.insert("cas" + order + size);
      names.insert("casp" + order);
    }
    // The ST aliases discard the old value, and so cannot acquire.
    for (const std::string order : {"", "l"}) {
      for (const std::string& operation : operations) names.insert("st" + operation + order + size);
    }
  }
  return names;
}

TEST(Arm64Atomic, AcceptsAWordThatBinutilsKnowsExactlyWhenItsNameIsAReadModifyWrite) {
  const std::set<Mnemonic> rmw = rmw_mnemonics();
  const std::vector<Word> words = all_decisions();
  const std::vector<Mnemonic> names = binutils_mnemonics(words);
  ASSERT_EQ(names.size(), words.size());
  std::set<Mnemonic> met;
  for (std::size_t n = 0; n < words.size(); ++n) {
    if (names[n].empty()) continue;
    met.insert(names[n]);
    ASSERT_EQ(is_atomic_rmw(words[n]), rmw.contains(names[n])) << names[n] << ' ' << std::hex << words[n];
  }
  // Not an empty proof: each of the names was met, and so were the neighbours that must be refused.
  for (const Mnemonic& name : rmw) EXPECT_TRUE(met.contains(name)) << name;
  for (const char* name : {"ldapr", "ldaprb", "ldaprh", "ld64b", "st64b", "ldxr", "ldaxr", "stxr", "stlxr", "ldxp",
                           "stxp",  "ldar",   "stlr",   "ldr",   "str",   "ldrb", "strh",  "ldp",  "stp",   "prfm"}) {
    EXPECT_TRUE(met.contains(name)) << name;
  }
}

TEST(Arm64Atomic, AcceptsOfTheWordsThatBinutilsDoesNotKnowTheReadCheckWriteGroupAndPairsOfOddRegisters) {
  const std::vector<Word> words = all_decisions();
  const std::vector<Mnemonic> names = binutils_mnemonics(words);
  ASSERT_EQ(names.size(), words.size());
  std::size_t rcw = 0;
  std::size_t casp = 0;
  for (std::size_t n = 0; n < words.size(); ++n) {
    const Word i = words[n];
    if (!is_atomic_rmw(i) || !names[n].empty()) continue;
    if (kCasp.contains(i)) {
      ++casp;
      EXPECT_TRUE((i & 1) != 0 || (i >> 16 & 1) != 0) << std::hex << i;
    } else {
      ++rcw;
      EXPECT_EQ(place(i >> 30, i >> 26 & 1, i >> 23 & 1, i >> 22 & 1, i >> 15 & 1, i >> 12 & 7).name, "RCW")
          << std::hex << i;
    }
  }
  EXPECT_EQ(rcw, 24 * kRegisters.size());
  EXPECT_EQ(casp, 2 * 8U);  // Rt = 31 and Rs = 31: the patch looks at no register
}

TEST(Arm64Atomic, RefusesEveryWordThatCapstoneKnowsAsItKnowsTheInstructionsBeforeTheAtomics) {
  const std::vector<Word> words = all_decisions();
  const std::vector<Mnemonic> names = capstone_mnemonics(words);
  const std::set<Mnemonic> rmw = rmw_mnemonics();
  std::set<Mnemonic> met;
  for (std::size_t n = 0; n < words.size(); ++n) {
    if (names[n].empty()) continue;
    met.insert(names[n]);
    ASSERT_EQ(is_atomic_rmw(words[n]), rmw.contains(names[n])) << names[n] << ' ' << std::hex << words[n];
  }
  for (const char* name : {"ldxr", "ldaxr", "stxr", "stlxr", "ldxp", "stxp", "ldar", "stlr", "ldr", "str", "ldrb",
                           "strh", "ldp", "stp", "prfm"}) {
    EXPECT_TRUE(met.contains(name)) << name;
  }
}

// A64 words as an assembler writes them.
TEST(Arm64Atomic, KnowsTheInstructionsThatACompilerEmits) {
  EXPECT_TRUE(is_atomic_rmw(0xf8200041));   // ldadd x0, x1, [x2]
  EXPECT_TRUE(is_atomic_rmw(0xb8e00041));   // ldaddal w0, w1, [x2]
  EXPECT_TRUE(is_atomic_rmw(0xf820005f));   // stadd x0, [x2]
  EXPECT_TRUE(is_atomic_rmw(0xf8e08041));   // swpal x0, x1, [x2]
  EXPECT_TRUE(is_atomic_rmw(0xc8e0fc41));   // casal x0, x1, [x2]
  EXPECT_FALSE(is_atomic_rmw(0xc85f7c41));  // ldxr x1, [x2]
  EXPECT_FALSE(is_atomic_rmw(0xc8007c41));  // stxr w0, x1, [x2]
  EXPECT_FALSE(is_atomic_rmw(0xf9400041));  // ldr x1, [x2]
  EXPECT_FALSE(is_atomic_rmw(0xf9000041));  // str x1, [x2]
  EXPECT_FALSE(is_atomic_rmw(0xf8bfc041));  // ldapr x1, [x2]
  EXPECT_FALSE(is_atomic_rmw(0xd503201f));  // nop
}

}  // namespace
}  // namespace faultline::arch
