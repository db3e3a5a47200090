#include "check/vocabulary.h"

#include <array>

namespace faultline::check {
namespace {

constexpr auto kProtections = std::to_array<Named>({
    {"PROT_NONE", 0},
    {"PROT_READ", 1},
    {"PROT_WRITE", 2},
    {"PROT_READ|PROT_WRITE", 3},
    {"PROT_READ|PROT_WRITE", 3},
    {"PROT_READ|PROT_WRITE", 3},
    {"PROT_EXEC", 4},
    {"PROT_READ|PROT_EXEC", 5},
    {"PROT_READ|PROT_WRITE|PROT_EXEC", 7},
});
constexpr auto kOddProtections = std::to_array<Named>({
    {"0x100", 0x100},
    {"PROT_GROWSDOWN", 0x01000000},
    {"PROT_READ|PROT_GROWSUP", 0x02000001},
    {"PROT_GROWSDOWN|PROT_GROWSUP", 0x03000000},
    {"PROT_READ|PROT_SEM", 9},
});
constexpr auto kAnonymousFlags = std::to_array<Named>({
    {"MAP_PRIVATE|MAP_ANONYMOUS|MAP_FIXED", 0x32},
    {"MAP_PRIVATE|MAP_ANONYMOUS|MAP_FIXED", 0x32},
    {"MAP_PRIVATE|MAP_ANONYMOUS|MAP_FIXED", 0x32},
    {"MAP_PRIVATE|MAP_ANONYMOUS|MAP_FIXED|MAP_NORESERVE", 0x4032},
    {"MAP_PRIVATE|MAP_ANONYMOUS|MAP_FIXED|MAP_POPULATE", 0x8032},
    {"MAP_PRIVATE|MAP_ANONYMOUS|MAP_FIXED|MAP_POPULATE|MAP_NONBLOCK", 0x18032},
    {"MAP_PRIVATE|MAP_ANONYMOUS|MAP_FIXED|MAP_LOCKED", 0x2032},
    {"MAP_SHARED|MAP_ANONYMOUS|MAP_FIXED", 0x31},
    {"MAP_SHARED|MAP_ANONYMOUS|MAP_FIXED", 0x31},
    {"MAP_SHARED|MAP_ANONYMOUS|MAP_FIXED|MAP_POPULATE", 0x8031},
    {"MAP_PRIVATE|MAP_ANONYMOUS|MAP_FIXED_NOREPLACE", 0x100022},
    {"MAP_PRIVATE|MAP_ANONYMOUS|MAP_FIXED_NOREPLACE", 0x100022},
    {"MAP_PRIVATE|MAP_ANONYMOUS", 0x22},
    {"MAP_PRIVATE|MAP_ANONYMOUS|MAP_FIXED|MAP_STACK", 0x20032},
    {"MAP_PRIVATE|MAP_ANONYMOUS|MAP_FIXED|MAP_GROWSDOWN", 0x132},
    {"MAP_DROPPABLE|MAP_ANONYMOUS|MAP_FIXED", 0x38},
    {"MAP_ANONYMOUS|MAP_FIXED", 0x30},
    {"MAP_SHARED_VALIDATE|MAP_ANONYMOUS|MAP_FIXED", 0x33},
});
constexpr auto kFileFlags = std::to_array<Named>({
    {"MAP_SHARED|MAP_FIXED", 0x11},
    {"MAP_SHARED|MAP_FIXED", 0x11},
    {"MAP_PRIVATE|MAP_FIXED", 0x12},
    {"MAP_PRIVATE|MAP_FIXED", 0x12},
    {"MAP_SHARED|MAP_FIXED|MAP_POPULATE", 0x8011},
    {"MAP_PRIVATE|MAP_FIXED|MAP_POPULATE", 0x8012},
    {"MAP_SHARED_VALIDATE|MAP_FIXED", 0x13},
    {"MAP_SHARED_VALIDATE|MAP_FIXED|0x800000", 0x800013},
    {"MAP_PRIVATE|MAP_FIXED_NOREPLACE", 0x100002},
    {"MAP_SHARED", 0x01},
});
constexpr auto kAdvice = std::to_array<Named>({
    {"MADV_NORMAL", 0},
    {"MADV_RANDOM", 1},
    {"MADV_SEQUENTIAL", 2},
    {"MADV_DONTNEED", 4},
    {"MADV_DONTNEED", 4},
    {"MADV_FREE", 8},
    {"MADV_FREE", 8},
    {"MADV_FREE", 8},
    {"MADV_REMOVE", 9},
    {"MADV_DONTFORK", 10},
    {"MADV_DOFORK", 11},
    {"MADV_HUGEPAGE", 14},
    {"MADV_NOHUGEPAGE", 15},
    {"MADV_DONTDUMP", 16},
    {"MADV_DODUMP", 17},
    {"MADV_WIPEONFORK", 18},
    {"MADV_KEEPONFORK", 19},
    {"MADV_COLD", 20},
    {"MADV_POPULATE_READ", 22},
    {"MADV_POPULATE_WRITE", 23},
    {"MADV_DONTNEED_LOCKED", 24},
    {"MADV_COLLAPSE", 25},
    {"MADV_GUARD_INSTALL", 102},
    {"MADV_GUARD_INSTALL", 102},
    {"MADV_GUARD_REMOVE", 103},
    {"77", 77},
});
constexpr auto kHugeAdvice = std::to_array<Named>({
    {"MADV_HUGEPAGE", 14},
    {"MADV_HUGEPAGE", 14},
    {"MADV_NOHUGEPAGE", 15},
    {"MADV_DONTNEED", 4},
    {"MADV_FREE", 8},
    {"MADV_POPULATE_READ", 22},
    {"MADV_POPULATE_WRITE", 23},
    {"MADV_COLLAPSE", 25},
    {"MADV_GUARD_INSTALL", 102},
});
constexpr auto kRemapFlags = std::to_array<Named>({
    {"0", 0},
    {"MREMAP_MAYMOVE", 1},
    {"MREMAP_MAYMOVE|MREMAP_FIXED", 3},
    {"MREMAP_MAYMOVE|MREMAP_FIXED", 3},
    {"MREMAP_MAYMOVE|MREMAP_FIXED", 3},
    {"MREMAP_MAYMOVE|MREMAP_DONTUNMAP", 5},
    {"MREMAP_MAYMOVE|MREMAP_FIXED|MREMAP_DONTUNMAP", 7},
    {"MREMAP_MAYMOVE|MREMAP_FIXED|MREMAP_DONTUNMAP", 7},
    {"MREMAP_FIXED", 2},
    {"MREMAP_DONTUNMAP", 4},
    {"MREMAP_MAYMOVE|0x8", 9},
});
constexpr auto kSyncFlags = std::to_array<Named>({
    {"MS_ASYNC", 1},
    {"MS_SYNC", 4},
    {"MS_INVALIDATE", 2},
    {"MS_SYNC|MS_INVALIDATE", 6},
    {"MS_ASYNC|MS_SYNC", 5},
    {"8", 8},
});
constexpr auto kLockAllFlags = std::to_array<Named>({
    {"MCL_CURRENT", 1},
    {"MCL_FUTURE", 2},
    {"MCL_CURRENT|MCL_FUTURE", 3},
    {"MCL_CURRENT|MCL_ONFAULT", 5},
    {"MCL_FUTURE|MCL_ONFAULT", 6},
    {"MCL_ONFAULT", 4},
    {"0", 0},
});
constexpr auto kMemfdFlags = std::to_array<Named>({
    {"MFD_CLOEXEC", 1},
    {"MFD_ALLOW_SEALING", 2},
    {"MFD_ALLOW_SEALING", 2},
    {"MFD_NOEXEC_SEAL", 8},
    {"0x100", 0x100},
});
constexpr auto kFileSeals = std::to_array<Named>({
    {"F_SEAL_SHRINK", 2},
    {"F_SEAL_GROW", 4},
    {"F_SEAL_WRITE", 8},
    {"F_SEAL_FUTURE_WRITE", 0x10},
    {"F_SEAL_SEAL", 1},
    {"F_SEAL_SHRINK|F_SEAL_GROW", 6},
    {"0x80", 0x80},
});
constexpr auto kResources = std::to_array<Named>({
    {"RLIMIT_AS", 9},
    {"RLIMIT_DATA", 2},
    {"RLIMIT_MEMLOCK", 8},
});

// No process has the privilege to be told of faults in the kernel, but up to 5.10 everybody has.
constexpr auto kUserfaultfdFlags = std::to_array<Named>({
    {"O_CLOEXEC|UFFD_USER_MODE_ONLY", 02000001},
    {"O_CLOEXEC", 02000000},
    {"0x2", 2},
    {"0x2|UFFD_USER_MODE_ONLY", 3},
});
// Nobody answers a fault that waits.
constexpr auto kUserfaultfdFeatures = std::to_array<Named>({
    {"UFFD_FEATURE_SIGBUS", 0x80},
    {"UFFD_FEATURE_SIGBUS|UFFD_FEATURE_WP_UNPOPULATED", 0x2080},
    {"UFFD_FEATURE_SIGBUS|UFFD_FEATURE_WP_ASYNC", 0x8080},
    {"UFFD_FEATURE_SIGBUS|0x8000000", 0x8000080},
});
constexpr auto kRegisterModes = std::to_array<Named>({
    {"UFFDIO_REGISTER_MODE_MISSING", 1},
    {"UFFDIO_REGISTER_MODE_WP", 2},
    {"UFFDIO_REGISTER_MODE_WP", 2},
    {"UFFDIO_REGISTER_MODE_MISSING|UFFDIO_REGISTER_MODE_WP", 3},
    {"0", 0},
});
constexpr auto kProtectModes = std::to_array<Named>({
    {"UFFDIO_WRITEPROTECT_MODE_WP", 1},
    {"UFFDIO_WRITEPROTECT_MODE_WP", 1},
    {"0", 0},
    {"UFFDIO_WRITEPROTECT_MODE_DONTWAKE", 2},
    {"UFFDIO_WRITEPROTECT_MODE_WP|UFFDIO_WRITEPROTECT_MODE_DONTWAKE", 3},
});
constexpr auto kFillModes = std::to_array<Named>({
    {"0", 0},
    {"UFFDIO_COPY_MODE_WP", 2},
    {"UFFDIO_COPY_MODE_DONTWAKE", 1},
});

}  // namespace

std::span<const Named> protections() { return kProtections; }
std::span<const Named> odd_protections() { return kOddProtections; }
static_assert(kAnonymousFlags[kSharedAnonymous].name == "MAP_SHARED|MAP_ANONYMOUS|MAP_FIXED");
std::span<const Named> anonymous_flags() { return kAnonymousFlags; }
std::span<const Named> file_flags() { return kFileFlags; }
std::span<const Named> advice() { return kAdvice; }
std::span<const Named> huge_advice() { return kHugeAdvice; }
std::span<const Named> remap_flags() { return kRemapFlags; }
std::span<const Named> sync_flags() { return kSyncFlags; }
std::span<const Named> lock_all_flags() { return kLockAllFlags; }
std::span<const Named> memfd_flags() { return kMemfdFlags; }
std::span<const Named> file_seals() { return kFileSeals; }
std::span<const Named> resources() { return kResources; }
std::span<const Named> userfaultfd_flags() { return kUserfaultfdFlags; }
std::span<const Named> userfaultfd_features() { return kUserfaultfdFeatures; }
std::span<const Named> register_modes() { return kRegisterModes; }
std::span<const Named> protect_modes() { return kProtectModes; }
std::span<const Named> fill_modes() { return kFillModes; }

}  // namespace faultline::check
