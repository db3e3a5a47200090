#include "machine/io_uring.h"

#include <array>
#include <bit>

namespace faultline::machine {
namespace {

constexpr std::uint32_t kRegisterBuffers = 0;
constexpr std::uint32_t kUnregisterBuffers = 1;
constexpr std::uint64_t kMostBuffers = 1024;
constexpr std::uint64_t kLongestBuffer = std::uint64_t{1} << 30;

/// struct iovec.
struct Buffer {
  std::uint64_t base = 0;
  std::uint64_t length = 0;
};

Result<std::uint64_t> hold(mm::AddressSpace& space, IoUring& ring, Addr list, std::uint64_t count) {
  if (!ring.buffers.empty()) return fail(EBUSY);
  if (count == 0 || count > kMostBuffers) return fail(EINVAL);
  std::vector<std::shared_ptr<mm::PinnedPages>> held;
  for (std::uint64_t i = 0; i < count; ++i) {
    Buffer buffer;
    std::array<std::uint8_t, sizeof buffer> bytes{};
    if (space.copy_from_user(bytes, list + i * sizeof buffer) < sizeof buffer) return fail(EFAULT);
    buffer = std::bit_cast<Buffer>(bytes);
    if (buffer.base == 0 || buffer.length == 0 || buffer.length > kLongestBuffer) return fail(EFAULT);
    auto pinned = space.pin(Addr{buffer.base}, buffer.length);
    if (!pinned) return std::unexpected(pinned.error());
    held.push_back(std::move(*pinned));
  }
  ring.buffers = std::move(held);
  return 0;
}

}  // namespace

std::optional<std::string> unsupported_register(const run::CallRequest& call) {
  const auto opcode = static_cast<std::uint32_t>(call.arguments[1]);
  if (opcode == kRegisterBuffers || opcode == kUnregisterBuffers) return std::nullopt;
  return "an io_uring_register of anything but IORING_REGISTER_BUFFERS and IORING_UNREGISTER_BUFFERS";
}

Result<std::uint64_t> io_uring_setup(mm::AddressSpace& space, Descriptors& descriptors, std::uint64_t entries,
                                     Addr params) {
  constexpr std::uint64_t kMostEntries = 32768;
  std::array<std::uint8_t, 120> bytes{};
  if (space.copy_from_user(bytes, params) < bytes.size()) return fail(EFAULT);
  entries = static_cast<std::uint32_t>(entries);
  if (entries == 0 || entries > kMostEntries) return fail(EINVAL);
  // Of what the kernel tells about its ring only the sizes: nobody uses the ring here.
  const auto submissions = static_cast<std::uint32_t>(std::bit_ceil(entries));
  const std::array<std::uint32_t, 2> sizes{submissions, 2 * submissions};
  const auto told = std::bit_cast<std::array<std::uint8_t, 8>>(sizes);
  if (space.copy_to_user(params, told) < told.size()) return fail(EFAULT);
  return descriptors.install(IoUring{});
}

Result<std::uint64_t> io_uring_register(mm::AddressSpace& space, OpenFile* open, const run::CallRequest& call) {
  if (open == nullptr) return fail(EBADF);
  auto* ring = std::get_if<IoUring>(open);
  if (ring == nullptr) return fail(EOPNOTSUPP);
  const Addr list{call.arguments[2]};
  const auto count = static_cast<std::uint32_t>(call.arguments[3]);
  if (static_cast<std::uint32_t>(call.arguments[1]) == kRegisterBuffers) return hold(space, *ring, list, count);
  if (list.value != 0 || count != 0) return fail(EINVAL);
  if (ring->buffers.empty()) return fail(ENXIO);
  ring->buffers.clear();
  return 0;
}

}  // namespace faultline::machine
