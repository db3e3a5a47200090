#include "machine/pipe.h"

#include <algorithm>
#include <span>

namespace faultline::machine {

std::uint64_t Pipe::joins_last(std::uint64_t length) const {
  const std::uint64_t rest = length & (kPageSize - 1);
  return !buffers_.empty() && buffers_.back().size() + rest <= kPageSize ? rest : 0;
}

bool Pipe::write_waits(std::uint64_t length) const {
  const std::uint64_t beyond = length - joins_last(length);
  return beyond > (kBuffers - buffers_.size()) * kPageSize;
}

Result<std::uint64_t> Pipe::read(mm::AddressSpace& space, Addr buffer, std::uint64_t length) {
  std::uint64_t done = 0;
  while (done < length && !buffers_.empty()) {
    Bytes& first = buffers_.front();
    const std::span part = std::span(first).first(std::min<std::uint64_t>(first.size(), length - done));
    // What was copied of a buffer before a page forbade it stays in the pipe, and does not count.
    if (space.copy_to_user(buffer + done, part) < part.size()) {
      if (done == 0) return fail(EFAULT);
      break;
    }
    done += part.size();
    first.erase(first.begin(), first.begin() + static_cast<std::ptrdiff_t>(part.size()));
    if (first.empty()) buffers_.pop_front();
  }
  return done;
}

Result<std::uint64_t> Pipe::write(mm::AddressSpace& space, Addr buffer, std::uint64_t length) {
  std::uint64_t done = 0;
  if (const std::uint64_t rest = joins_last(length); rest != 0) {
    Bytes bytes(rest);
    if (space.copy_from_user(bytes, buffer) < rest) return fail(EFAULT);
    buffers_.back().insert(buffers_.back().end(), bytes.begin(), bytes.end());
    done = rest;
  }
  while (done < length) {
    Bytes bytes(std::min(length - done, kPageSize));
    if (space.copy_from_user(bytes, buffer + done) < bytes.size()) {
      if (done == 0) return fail(EFAULT);
      break;
    }
    done += bytes.size();
    buffers_.push_back(std::move(bytes));
  }
  return done;
}

}  // namespace faultline::machine
