#include "record/plugin/memory_map.h"

#include <sys/mman.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <iterator>
#include <memory>

namespace faultline::record {
namespace {

constexpr std::uint64_t kPageMask = 4095;

/// "7f00-8000 rw-p 00001000 08:01 123   /usr/lib/…".
std::optional<Mapping> parse(const char* line) {
  Mapping mapping;
  char flags[5]{};
  int path = 0;
  if (std::sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %*s %n", &mapping.start, &mapping.end, flags,
                  &mapping.offset, &path) < 4) {
    return std::nullopt;
  }
  mapping.protection =
      (flags[0] == 'r' ? PROT_READ : 0U) | (flags[1] == 'w' ? PROT_WRITE : 0U) | (flags[2] == 'x' ? PROT_EXEC : 0U);
  mapping.shared = flags[3] == 's';
  const std::string_view rest = path > 0 ? line + path : "";
  if (rest.starts_with('/')) mapping.path = rest.substr(0, rest.find('\n'));
  return mapping;
}

}  // namespace

std::optional<Mapping> host_mapping(std::uint64_t address) {
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  const std::unique_ptr<std::FILE, Close> file(std::fopen("/proc/self/maps", "re"));
  if (file == nullptr) return std::nullopt;
  char line[4352];
  while (std::fgets(line, sizeof line, file.get()) != nullptr) {
    auto mapping = parse(line);
    if (mapping && address >= mapping->start && address < mapping->end) return mapping;
  }
  return std::nullopt;
}

void KnownMemory::cut(std::uint64_t at) {
  const auto behind = ranges_.lower_bound(at);
  if (behind == ranges_.begin()) return;
  std::uint64_t& end = std::prev(behind)->second;
  if (end <= at) return;
  ranges_.emplace_hint(behind, at, end);
  end = at;
}

void KnownMemory::remove(std::uint64_t start, std::uint64_t bytes) {
  start &= ~kPageMask;
  const std::uint64_t end = (start + bytes + kPageMask) & ~kPageMask;
  if (end <= start) return;
  cut(start);
  cut(end);
  ranges_.erase(ranges_.lower_bound(start), ranges_.lower_bound(end));
}

void KnownMemory::add(std::uint64_t start, std::uint64_t bytes) {
  start &= ~kPageMask;
  std::uint64_t end = (start + bytes + kPageMask) & ~kPageMask;
  if (end <= start) return;
  remove(start, end - start);
  auto behind = ranges_.lower_bound(start);
  if (behind != ranges_.end() && behind->first == end) {
    end = behind->second;
    behind = ranges_.erase(behind);
  }
  if (behind != ranges_.begin() && std::prev(behind)->second == start) {
    std::prev(behind)->second = end;
  } else {
    ranges_.emplace_hint(behind, start, end);
  }
}

bool KnownMemory::holds(std::uint64_t address) const {
  const auto behind = ranges_.upper_bound(address);
  return behind != ranges_.begin() && std::prev(behind)->second > address;
}

Mapping KnownMemory::unknown_part(Mapping mapping, std::uint64_t address) const {
  const auto behind = ranges_.upper_bound(address);
  if (behind != ranges_.end()) mapping.end = std::min(mapping.end, behind->first);
  if (behind != ranges_.begin()) {
    const std::uint64_t before = std::prev(behind)->second;
    if (before > mapping.start) {
      mapping.offset += before - mapping.start;
      mapping.start = before;
    }
  }
  return mapping;
}

}  // namespace faultline::record
