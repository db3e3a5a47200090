// The rights to protection keys, which a thread reads and writes without its kernel: pkey_set(3), pkey_get(3).

#include "agent/arch.h"
#include "agent/native_kernel.h"

namespace faultline::agent {
namespace {

constexpr std::uint32_t kKeys = 16;
constexpr std::uint32_t kAllRights = 3;

/// What the C library looks at before it touches the register.
std::optional<int> key_refusal(std::uint64_t key) {
  if (!arch::has_protection_keys()) return ENOSYS;
  if (static_cast<std::uint32_t>(key) >= kKeys) return EINVAL;
  return std::nullopt;
}

}  // namespace

run::CallOutcome NativeKernel::pkey_set(std::uint64_t key, std::uint64_t rights) {
  if (const auto error = key_refusal(key)) return run::call_failure({*error});
  if (rights > kAllRights) return run::call_failure({EINVAL});
  const std::uint32_t shift = 2 * static_cast<std::uint32_t>(key);
  const std::uint32_t mask = kAllRights << shift;
  const std::uint32_t bits = static_cast<std::uint32_t>(rights) << shift;
  const std::uint64_t start = meter_.begin();
  arch::change_key_rights(mask, bits);
  const std::uint64_t stop = meter_.end();
  return {0, {}, meter_.amount(start, stop, arch::kKeyChangeInstructions)};
}

run::CallOutcome NativeKernel::pkey_get(std::uint64_t key) {
  if (const auto error = key_refusal(key)) return run::call_failure({*error});
  const std::uint64_t start = meter_.begin();
  const std::uint32_t rights = arch::key_rights();
  const std::uint64_t stop = meter_.end();
  const std::uint64_t value = rights >> (2 * static_cast<std::uint32_t>(key)) & kAllRights;
  return {value, {}, meter_.amount(start, stop, 1)};
}

}  // namespace faultline::agent
