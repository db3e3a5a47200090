#include "mm/file_io.h"

#include <algorithm>
#include <array>

namespace faultline::mm {
namespace {

using Page = std::array<std::uint8_t, kPageSize>;

std::uint64_t to_page_end(std::uint64_t position) { return kPageSize - (position & (kPageSize - 1)); }

/// Where a file is written to, and from where.
struct Chunk {
  std::uint64_t position = 0;
  Addr from;
  std::uint64_t count = 0;   // at most up to the end of one of the file's pages
  std::uint64_t looked = 0;  // from the position on: the bytes that are treated as one before any is copied
};

/// The bytes at `position`, of `rest` that are still to be written.
Chunk chunk_of(const Profile& profile, std::uint64_t position, Addr from, std::uint64_t rest) {
  const std::uint64_t page = std::min(rest, to_page_end(position));
  const std::uint64_t folio = std::min(rest, kHugeBytes - (position & (kHugeBytes - 1)));
  return {position, from, page, profile.write_chunk == WriteChunk::page ? page : folio};
}

/// May they be written?
Result<void> check_seals(const Shmem& object, const Chunk& chunk) {
  if (has(object.seals(), FileSeals::write | FileSeals::future_write)) return fail(EPERM);
  if (has(object.seals(), FileSeals::grow) && chunk.position + chunk.looked > object.size()) return fail(EPERM);
  return {};
}

/// Touches each page of the caller's buffer that is treated as one, up to the first that cannot be read. False where
/// that is the first one.
bool fault_in_ahead(AddressSpace& space, const Chunk& chunk) {
  const Addr end = chunk.from + chunk.looked;
  std::uint8_t byte = 0;
  for (Addr at = chunk.from; at < end; at = at.page_floor() + kPageSize) {
    if (space.copy_from_user({&byte, 1}, at) == 0) return at != chunk.from;
  }
  return true;
}

/// Faults the caller's bytes in, as far as the first that cannot be read, and then copies what could be.
Result<std::uint64_t> prefault_and_write(AddressSpace& space, Shmem& object, Chunk chunk) {
  if (chunk.looked != chunk.count && !fault_in_ahead(space, chunk)) return fail(EFAULT);
  Page page;
  const std::uint64_t copied = space.copy_from_user(std::span(page).first(chunk.count), chunk.from);
  const bool enough = space.profile().write_prefault == WritePrefault::every_byte ? copied == chunk.count : copied != 0;
  if (!enough) return fail(EFAULT);
  if (auto fine = check_seals(object, chunk); !fine) return std::unexpected(fine.error());
  if (auto done = object.write(chunk.position, std::span(page).first(copied)); !done)
    return std::unexpected(done.error());
  object.set_size(std::max(object.size(), chunk.position + copied));
  return copied;
}

/// Copies what can be read without a fault; where that is nothing, the bytes are faulted in and 0 comes back. Even then
/// the file has the page, and reaches to the position.
Result<std::uint64_t> write_at_once(AddressSpace& space, Shmem& object, Chunk chunk) {
  if (auto fine = check_seals(object, chunk); !fine) return std::unexpected(fine.error());
  if (auto made = object.write(chunk.position, {}); !made) return std::unexpected(made.error());
  Page page;
  const std::span bytes = std::span(page).first(chunk.count);
  const std::uint64_t copied = space.copy_from_user_inatomic(bytes, chunk.from);
  if (auto done = object.write(chunk.position, bytes.first(copied)); !done) return std::unexpected(done.error());
  object.set_size(std::max(object.size(), chunk.position + copied));
  if (copied == 0 && space.copy_from_user(bytes, chunk.from) == 0) return fail(EFAULT);
  return copied;
}

/// What __arch_copy_to_user counts of `count` bytes when only the first `room` can be written, the source being at
/// `from` in its page: it aligns the source to 16 bytes by pieces of 1, 2, 4 and 8, goes on by 16, and ends by 8, 4, 2
/// and 1. Where the first piece fails it tries a single byte.
std::uint64_t whole_pieces(std::uint64_t count, std::uint64_t room, std::uint64_t from) {
  constexpr std::uint64_t kPiece = 16;
  std::uint64_t done = 0;
  const auto fits = [&](std::uint64_t bytes) {
    if (done + bytes > room) return false;
    done += bytes;
    return true;
  };
  const auto all_fit = [&] {
    const std::uint64_t aligning = count < kPiece ? 0 : -from % kPiece;
    for (std::uint64_t bytes = 1; bytes < kPiece; bytes *= 2) {
      if ((aligning & bytes) != 0 && !fits(bytes)) return false;
    }
    const std::uint64_t rest = count - aligning;
    for (std::uint64_t i = 0; i < rest / kPiece; ++i) {
      if (!fits(kPiece)) return false;
    }
    for (std::uint64_t bytes = kPiece / 2; bytes != 0; bytes /= 2) {
      if ((rest & bytes) != 0 && !fits(bytes)) return false;
    }
    return true;
  };
  return all_fit() || done != 0 ? done : std::min<std::uint64_t>(room, 1);
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
    std::uint64_t copied = space.copy_to_user(buffer + done, part);
    if (space.profile().read_short == ReadShort::by_pieces) copied = whole_pieces(count, copied, position + done);
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
  const auto write = space.profile().write_prefault == WritePrefault::on_failure ? write_at_once : prefault_and_write;
  std::uint64_t done = 0;
  while (done < length) {
    const Chunk chunk = chunk_of(space.profile(), position + done, buffer + done, length - done);
    const auto copied = write(space, object, chunk);
    if (!copied && done == 0) return std::unexpected(copied.error());
    if (!copied) break;
    done += *copied;
  }
  return done;
}

}  // namespace faultline::mm
