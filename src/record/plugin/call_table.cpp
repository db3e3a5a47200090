#include "record/plugin/call_table.h"

#include <algorithm>
#include <iterator>
#include <vector>

namespace faultline::record {
namespace {

using What = Meaning::What;
constexpr std::int16_t kNone = -1;

struct Row {
  std::int16_t x86_64;
  std::int16_t arm64;
  Meaning meaning;
};

constexpr Meaning memory(Call call, std::uint8_t arguments) { return {What::memory, call, arguments, {}}; }
constexpr Meaning is(What what) { return {what, {}, 0, {}}; }
constexpr Meaning writes(Written first, Written second = {}) { return {What::writes, {}, 0, {first, second}}; }
constexpr Written fixed(std::uint8_t argument, std::uint16_t size) { return {Extent::bytes, argument, size, 0}; }
constexpr Written result(std::uint8_t argument) { return {Extent::result, argument, 0, 0}; }

// The numbers are the kernel's: asm/unistd_64.h for x86-64, asm-generic/unistd.h for arm64. Sizes are of the structures
// as the kernel copies them.
constexpr Row kRows[] = {
    {9, 222, memory(Call::mmap, 6)},
    {10, 226, memory(Call::mprotect, 3)},
    {11, 215, memory(Call::munmap, 2)},
    {12, 214, memory(Call::brk, 1)},
    {25, 216, memory(Call::mremap, 5)},
    {26, 227, memory(Call::msync, 3)},
    {28, 233, memory(Call::madvise, 3)},
    {149, 228, memory(Call::mlock, 2)},
    {150, 229, memory(Call::munlock, 2)},
    {151, 230, memory(Call::mlockall, 1)},
    {152, 231, memory(Call::munlockall, 0)},
    {157, 167, memory(Call::prctl, 5)},
    {325, 284, memory(Call::mlock2, 3)},
    {329, 288, memory(Call::pkey_mprotect, 4)},
    {462, 462, memory(Call::mseal, 3)},
    {57, kNone, is(What::fork)},
    {58, kNone, is(What::fork)},
    {56, 220, is(What::fork)},
    {59, 221, is(What::exec)},
    {231, 94, is(What::exit)},
    {334, 293, is(What::rseq)},
    {76, 45, is(What::truncates)},
    {77, 46, is(What::truncates)},
    {0, 63, writes(result(1))},                              // read
    {17, 67, writes(result(1))},                             // pread64
    {19, 65, writes({Extent::vector, 1, 0, 2})},             // readv
    {295, 69, writes({Extent::vector, 1, 0, 2})},            // preadv
    {45, 207, writes(result(1))},                            // recvfrom
    {47, 212, writes({Extent::message, 1, 0, 0})},           // recvmsg
    {78, kNone, writes(result(1))},                          // getdents
    {217, 61, writes(result(1))},                            // getdents64
    {4, kNone, writes(fixed(1, 144))},                       // stat
    {5, 80, writes(fixed(1, 144))},                          // fstat
    {6, kNone, writes(fixed(1, 144))},                       // lstat
    {262, 79, writes(fixed(2, 144))},                        // newfstatat
    {332, 291, writes(fixed(4, 256))},                       // statx
    {89, kNone, writes(result(1))},                          // readlink
    {267, 78, writes(result(2))},                            // readlinkat
    {79, 17, writes(result(0))},                             // getcwd
    {63, 160, writes(fixed(0, 390))},                        // uname
    {318, 278, writes(result(0))},                           // getrandom
    {228, 113, writes(fixed(1, 16))},                        // clock_gettime
    {229, 114, writes(fixed(1, 16))},                        // clock_getres
    {96, 169, writes(fixed(0, 16), fixed(1, 8))},            // gettimeofday
    {99, 179, writes(fixed(0, 112))},                        // sysinfo
    {98, 165, writes(fixed(1, 144))},                        // getrusage
    {100, 153, writes(fixed(0, 32))},                        // times
    {61, 260, writes(fixed(1, 4), fixed(3, 144))},           // wait4
    {247, 95, writes(fixed(2, 128))},                        // waitid
    {7, kNone, writes({Extent::times_argument, 0, 8, 1})},   // poll
    {271, 73, writes({Extent::times_argument, 0, 8, 1})},    // ppoll
    {232, kNone, writes({Extent::times_result, 1, 12, 0})},  // epoll_wait
    {281, 22, writes({Extent::times_result, 1, 12, 0})},     // epoll_pwait
    {22, kNone, writes(fixed(0, 8))},                        // pipe
    {293, 59, writes(fixed(0, 8))},                          // pipe2
    {53, 199, writes(fixed(3, 8))},                          // socketpair
    {13, 134, {What::handles, {}, 0, {fixed(2, 32)}}},       // rt_sigaction
    {14, 135, writes(fixed(2, 8))},                          // rt_sigprocmask
    {131, 132, writes(fixed(1, 24))},                        // sigaltstack
    {302, 261, writes(fixed(3, 16))},                        // prlimit64
    {97, 163, writes(fixed(1, 16))},                         // getrlimit
    {137, 43, writes(fixed(1, 120))},                        // statfs
    {138, 44, writes(fixed(1, 120))},                        // fstatfs
    {204, 123, writes(result(2))},                           // sched_getaffinity
    {16, 29, writes({Extent::ioctl, 2, 0, 1})},              // ioctl
    {27, 232, writes({Extent::mincore, 2, 0, 0})},           // mincore
};

std::vector<Meaning> table(std::int16_t Row::* number) {
  std::vector<Meaning> meanings;
  for (const Row& row : kRows) {
    if (row.*number < 0) continue;
    const auto index = static_cast<std::size_t>(row.*number);
    meanings.resize(std::max(meanings.size(), index + 1));
    meanings[index] = row.meaning;
  }
  return meanings;
}

}  // namespace

const Meaning& meaning_of(Machine machine, std::int64_t number) {
  static const std::vector<Meaning> x86_64 = table(&Row::x86_64);
  static const std::vector<Meaning> arm64 = table(&Row::arm64);
  static const Meaning nothing;
  const std::vector<Meaning>& meanings = machine == Machine::arm64 ? arm64 : x86_64;
  return number >= 0 && static_cast<std::size_t>(number) < meanings.size() ? meanings[static_cast<std::size_t>(number)]
                                                                           : nothing;
}

}  // namespace faultline::record
