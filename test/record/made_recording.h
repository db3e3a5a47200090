#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "record/format.h"

namespace faultline::record {

/// A recording made by hand, record by record, of one process unless another is named.
class MadeRecording {
 public:
  MadeRecording();

  std::uint64_t file(std::string_view path, std::uint64_t bytes);
  std::uint64_t site(std::uint64_t address, std::uint64_t caller = 0);
  void mapped(std::uint64_t address, std::uint64_t bytes, std::uint64_t protection, std::uint64_t flags,
              std::uint64_t file = 0, std::uint64_t offset = 0);
  /// One page after the other.
  void touch(Touch touch, std::uint64_t address, std::uint64_t site, std::uint64_t pages = 1);
  void call(Call call, std::uint64_t site, const std::vector<std::uint64_t>& arguments, std::uint64_t result = 0,
            std::uint64_t file = 0);
  /// An anonymous private mapping at that address.
  void mmap(std::uint64_t site, std::uint64_t address, std::uint64_t bytes, std::uint64_t protection,
            std::uint64_t more_flags = 0);

  /// With its end.
  std::string bytes() const;

 private:
  void put(std::uint64_t number);
  void put(std::string_view text);

  std::string records_;
  std::uint64_t files_ = 0;
  std::uint64_t sites_ = 0;
};

// As <sys/mman.h> has them.
inline constexpr std::uint64_t kNone = 0;
inline constexpr std::uint64_t kRead = 1;
inline constexpr std::uint64_t kReadWrite = 3;
inline constexpr std::uint64_t kReadExec = 5;
inline constexpr std::uint64_t kAll = 7;
inline constexpr std::uint64_t kPrivate = 0x02;
inline constexpr std::uint64_t kFixed = 0x10;
inline constexpr std::uint64_t kAnonymous = 0x20;
inline constexpr std::uint64_t kNoReserve = 0x4000;
inline constexpr std::uint64_t kPageBytes = 4096;

}  // namespace faultline::record
