#include "program/constants.h"

#include <unordered_map>
#include <vector>

#include "base/errno.h"
#include "base/page.h"
#include "program/ioctl.h"

namespace faultline::program {
namespace {

// Spelled here rather than taken from <sys/mman.h>: the headers of a stable distribution lack the newest names.
constexpr Constant kTable[] = {
    {"NULL", 0},
    {"PAGE", kPageSize},
    {"UNMAPPED", kUnmapped},
    // mmap(2), mprotect(2): protection
    {"PROT_NONE", 0},
    {"PROT_READ", 0x1},
    {"PROT_WRITE", 0x2},
    {"PROT_EXEC", 0x4},
    {"PROT_SEM", 0x8},
    {"PROT_BTI", 0x10},  // arm64
    {"PROT_MTE", 0x20},  // arm64
    {"PROT_GROWSDOWN", 0x01000000},
    {"PROT_GROWSUP", 0x02000000},
    // mmap(2): flags
    {"MAP_FILE", 0},
    {"MAP_SHARED", 0x01},
    {"MAP_PRIVATE", 0x02},
    {"MAP_SHARED_VALIDATE", 0x03},
    {"MAP_DROPPABLE", 0x08},
    {"MAP_FIXED", 0x10},
    {"MAP_ANONYMOUS", 0x20},
    {"MAP_ANON", 0x20},
    {"MAP_32BIT", 0x40},  // x86-64
    {"MAP_GROWSDOWN", 0x0100},
    {"MAP_DENYWRITE", 0x0800},
    {"MAP_EXECUTABLE", 0x1000},
    {"MAP_LOCKED", 0x2000},
    {"MAP_NORESERVE", 0x4000},
    {"MAP_POPULATE", 0x8000},
    {"MAP_NONBLOCK", 0x10000},
    {"MAP_STACK", 0x20000},
    {"MAP_HUGETLB", 0x40000},
    {"MAP_SYNC", 0x80000},
    {"MAP_FIXED_NOREPLACE", 0x100000},
    {"MAP_UNINITIALIZED", 0x4000000},
    {"MAP_HUGE_SHIFT", 26},
    {"MAP_HUGE_2MB", std::uint64_t{21} << 26},
    {"MAP_HUGE_1GB", std::uint64_t{30} << 26},
    // madvise(2)
    {"MADV_NORMAL", 0},
    {"MADV_RANDOM", 1},
    {"MADV_SEQUENTIAL", 2},
    {"MADV_WILLNEED", 3},
    {"MADV_DONTNEED", 4},
    {"MADV_FREE", 8},
    {"MADV_REMOVE", 9},
    {"MADV_DONTFORK", 10},
    {"MADV_DOFORK", 11},
    {"MADV_MERGEABLE", 12},
    {"MADV_UNMERGEABLE", 13},
    {"MADV_HUGEPAGE", 14},
    {"MADV_NOHUGEPAGE", 15},
    {"MADV_DONTDUMP", 16},
    {"MADV_DODUMP", 17},
    {"MADV_WIPEONFORK", 18},
    {"MADV_KEEPONFORK", 19},
    {"MADV_COLD", 20},
    {"MADV_PAGEOUT", 21},
    {"MADV_POPULATE_READ", 22},
    {"MADV_POPULATE_WRITE", 23},
    {"MADV_DONTNEED_LOCKED", 24},
    {"MADV_COLLAPSE", 25},
    {"MADV_HWPOISON", 100},
    {"MADV_SOFT_OFFLINE", 101},
    {"MADV_GUARD_INSTALL", 102},
    {"MADV_GUARD_REMOVE", 103},
    // mremap(2), msync(2), mlock2(2), mlockall(2)
    {"MREMAP_MAYMOVE", 1},
    {"MREMAP_FIXED", 2},
    {"MREMAP_DONTUNMAP", 4},
    {"MS_ASYNC", 1},
    {"MS_INVALIDATE", 2},
    {"MS_SYNC", 4},
    {"MLOCK_ONFAULT", 1},
    {"MCL_CURRENT", 1},
    {"MCL_FUTURE", 2},
    {"MCL_ONFAULT", 4},
    // memfd_create(2)
    {"MFD_CLOEXEC", 0x1},
    {"MFD_ALLOW_SEALING", 0x2},
    {"MFD_HUGETLB", 0x4},
    {"MFD_NOEXEC_SEAL", 0x8},
    {"MFD_EXEC", 0x10},
    {"MFD_HUGE_SHIFT", 26},
    {"MFD_HUGE_2MB", std::uint64_t{21} << 26},
    {"MFD_HUGE_1GB", std::uint64_t{30} << 26},
    // open(2): only flags that have one value on both architectures
    {"O_RDONLY", 0},
    {"O_WRONLY", 1},
    {"O_RDWR", 2},
    {"O_CREAT", 0100},
    {"O_EXCL", 0200},
    {"O_TRUNC", 01000},
    {"O_APPEND", 02000},
    {"O_NONBLOCK", 04000},
    {"O_SYNC", 04010000},
    {"O_CLOEXEC", 02000000},
    // lseek(2), fcntl(2)
    {"SEEK_SET", 0},
    {"SEEK_CUR", 1},
    {"SEEK_END", 2},
    {"F_ADD_SEALS", 1033},
    {"F_GET_SEALS", 1034},
    {"F_SEAL_SEAL", 0x1},
    {"F_SEAL_SHRINK", 0x2},
    {"F_SEAL_GROW", 0x4},
    {"F_SEAL_WRITE", 0x8},
    {"F_SEAL_FUTURE_WRITE", 0x10},
    {"F_SEAL_EXEC", 0x20},
    // prlimit(2)
    {"RLIMIT_DATA", 2},
    {"RLIMIT_STACK", 3},
    {"RLIMIT_MEMLOCK", 8},
    {"RLIMIT_AS", 9},
    {"RLIM64_INFINITY", ~std::uint64_t{0}},
    // io_uring_register(2)
    {"IORING_REGISTER_BUFFERS", 0},
    {"IORING_UNREGISTER_BUFFERS", 1},
    // prctl(2)
    {"PR_SET_THP_DISABLE", 41},
    {"PR_GET_THP_DISABLE", 42},
    {"PR_SET_MDWE", 65},
    {"PR_GET_MDWE", 66},
    {"PR_MDWE_REFUSE_EXEC_GAIN", 1},
    {"PR_MDWE_NO_INHERIT", 2},
    {"PR_SET_MEMORY_MERGE", 67},
    {"PR_GET_MEMORY_MERGE", 68},
    {"PR_SET_VMA", 0x53564d41},
    {"PR_SET_VMA_ANON_NAME", 0},
    // userfaultfd(2), ioctl_userfaultfd(2)
    {"UFFD_USER_MODE_ONLY", 1},
    {"UFFD_API", 0xaa},
    {"UFFD_FEATURE_PAGEFAULT_FLAG_WP", 0x1},
    {"UFFD_FEATURE_EVENT_FORK", 0x2},
    {"UFFD_FEATURE_EVENT_REMAP", 0x4},
    {"UFFD_FEATURE_EVENT_REMOVE", 0x8},
    {"UFFD_FEATURE_MISSING_HUGETLBFS", 0x10},
    {"UFFD_FEATURE_MISSING_SHMEM", 0x20},
    {"UFFD_FEATURE_EVENT_UNMAP", 0x40},
    {"UFFD_FEATURE_SIGBUS", 0x80},
    {"UFFD_FEATURE_THREAD_ID", 0x100},
    {"UFFD_FEATURE_MINOR_HUGETLBFS", 0x200},
    {"UFFD_FEATURE_MINOR_SHMEM", 0x400},
    {"UFFD_FEATURE_EXACT_ADDRESS", 0x800},
    {"UFFD_FEATURE_WP_HUGETLBFS_SHMEM", 0x1000},
    {"UFFD_FEATURE_WP_UNPOPULATED", 0x2000},
    {"UFFD_FEATURE_POISON", 0x4000},
    {"UFFD_FEATURE_WP_ASYNC", 0x8000},
    {"UFFD_FEATURE_MOVE", 0x10000},
    {"UFFDIO_REGISTER_MODE_MISSING", 1},
    {"UFFDIO_REGISTER_MODE_WP", 2},
    {"UFFDIO_REGISTER_MODE_MINOR", 4},
    {"UFFDIO_COPY_MODE_DONTWAKE", 1},
    {"UFFDIO_COPY_MODE_WP", 2},
    {"UFFDIO_ZEROPAGE_MODE_DONTWAKE", 1},
    {"UFFDIO_WRITEPROTECT_MODE_WP", 1},
    {"UFFDIO_WRITEPROTECT_MODE_DONTWAKE", 2},
    // pkey_alloc(2)
    {"PKEY_DISABLE_ACCESS", 1},
    {"PKEY_DISABLE_WRITE", 2},
};

constexpr int kLargestErrno = 133;  // EHWPOISON, the last that errno(3) lists

}  // namespace

std::span<const Constant> constants() {
  static const std::vector<Constant> all = [] {
    std::vector<Constant> list(std::begin(kTable), std::end(kTable));
    for (const IoctlRequest& request : ioctl_requests()) list.push_back({request.name, request.number});
    for (int number = 1; number <= kLargestErrno; ++number) {
      const std::string_view name = errno_name(Errno{number});
      if (errno_named(name) == Errno{number}) list.push_back({name, static_cast<std::uint64_t>(number)});
    }
    return list;
  }();
  return all;
}

std::optional<std::uint64_t> constant_named(std::string_view name) {
  static const auto by_name = [] {
    std::unordered_map<std::string_view, std::uint64_t> map;
    for (const Constant& c : constants()) map.emplace(c.name, c.value);
    return map;
  }();
  const auto found = by_name.find(name);
  if (found == by_name.end()) return std::nullopt;
  return found->second;
}

}  // namespace faultline::program
