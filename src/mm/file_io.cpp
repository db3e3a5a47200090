#include "mm/file_io.h"

#include <algorithm>
#include <array>

namespace faultline::mm {
namespace {

using Page = std::array<std::uint8_t, kPageSize>;

std::uint64_t to_page_end(std::uint64_t position) { return kPageSize - (position & (kPageSize - 1)); }

/// May the file's bytes [position, position + count) be written?
Result<void> check_seals(const Shmem& object, std::uint64_t end) {
  if (has(object.seals(), FileSeals::write | FileSeals::future_write)) return fail(EPERM);
  if (has(object.seals(), FileSeals::grow) && end > object.size()) return fail(EPERM);
  return {};
}

/// How many of the bytes can be read without a fault.
std::uint64_t readable_at_once(const AddressSpace& space, Addr buffer, std::uint64_t count) {
  std::uint64_t ready = 0;
  while (ready < count && space.page(buffer + ready).readable) ready += to_page_end(buffer.value + ready);
  return std::min(ready, count);
}

}  // namespace

Result<void> check_buffer(const AddressSpace& space, Addr buffer, std::uint64_t length) {
  const std::uint64_t task_size = arch::geometry(space.profile().arch).task_size.value;
  if (buffer.value > task_size || length > task_size - buffer.value) return fail(EFAULT);
  return {};
}

Result<std::uint64_t> read_file(AddressSpace& space, const File& file, std::uint64_t position, Addr buffer,
                                std::uint64_t length) {
  if (!file.readable()) return fail(EBADF);
  if (auto fine = check_buffer(space, buffer, length); !fine) return std::unexpected(fine.error());
  const Shmem& object = *file.object;
  const std::uint64_t there = position < object.size() ? object.size() - position : 0;
  length = std::min({length, there, kMostBytesPerCall});
  Page page;
  std::uint64_t done = 0;
  while (done < length) {
    const std::uint64_t count = std::min(length - done, to_page_end(position + done));
    const std::span part = std::span(page).first(count);
    object.read(position + done, part);
    const std::uint64_t copied = space.copy_to_user(buffer + done, part);
    done += copied;
    if (copied < count) break;
  }
  if (done == 0 && length != 0) return fail(EFAULT);
  return done;
}

Result<std::uint64_t> write_file(AddressSpace& space, const File& file, std::uint64_t position, Addr buffer,
                                 std::uint64_t length) {
  if (!file.writable()) return fail(EBADF);
  if (auto fine = check_buffer(space, buffer, length); !fine) return std::unexpected(fine.error());
  if (length > kLargestFile - position) return fail(EINVAL);
  length = std::min(length, kMostBytesPerCall);
  Shmem& object = *file.object;
  const WritePrefault prefault = space.profile().write_prefault;
  Result<void> refused;
  Page page;
  std::uint64_t done = 0;
  while (done < length) {
    std::uint64_t count = std::min(length - done, to_page_end(position + done));
    if (prefault == WritePrefault::after_page) {
      if (refused = check_seals(object, position + done + count); !refused) break;
      // An empty write leaves the bytes as they are; the page is there from now on.
      if (refused = object.write(position + done, {}); !refused) break;
      // The first attempt to copy takes no fault. When it copies nothing, the file still reaches up to there.
      const std::uint64_t ready = readable_at_once(space, buffer + done, count);
      if (ready == 0) object.set_size(std::max(object.size(), position + done));
      if (ready != 0) count = ready;
    }
    const std::uint64_t copied = space.copy_from_user(std::span(page).first(count), buffer + done);
    const bool usable = copied == count || (copied != 0 && prefault != WritePrefault::every_byte);
    if (!usable) {
      refused = fail(EFAULT);
      break;
    }
    if (refused = check_seals(object, position + done + count); !refused) break;
    if (refused = object.write(position + done, std::span(page).first(copied)); !refused) break;
    done += copied;
    object.set_size(std::max(object.size(), position + done));
  }
  if (done == 0 && !refused) return std::unexpected(refused.error());
  return done;
}

}  // namespace faultline::mm
