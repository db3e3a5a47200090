// How ProcessMemory walks the mapped areas: by PROCMAP_QUERY (since 6.11), or by the text of /proc/self/maps.

#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "agent/process_memory.h"

namespace faultline::agent {
namespace {

struct AreaQuery {
  std::uint64_t size;
  std::uint64_t flags;
  std::uint64_t addr;
  std::uint64_t start;
  std::uint64_t end;
  std::uint64_t vma_flags;
  std::uint64_t page_size;
  std::uint64_t offset;
  std::uint64_t inode;
  std::uint32_t dev_major;
  std::uint32_t dev_minor;
  std::uint32_t name_size;
  std::uint32_t build_id_size;
  std::uint64_t name_addr;
  std::uint64_t build_id_addr;
};
constexpr unsigned long kProcmapQuery = _IOWR('f', 17, AreaQuery);
constexpr std::uint64_t kCoveringOrNext = 0x10;
constexpr std::uint64_t kSharedArea = 0x8;

/// Takes /proc/self/maps apart character by character, so that a line may lie across two reads.
class MapsParser {
 public:
  /// True when the character ended a line; taken() then gives it.
  bool take(char c) {
    if (c == '\n') {
      field_ = Field::start;
      return true;
    }
    switch (field_) {
      case Field::start:
        if (c == '-') return next(Field::end);
        digit(start_, c);
        return false;
      case Field::end:
        if (c == ' ') return next(Field::prot);
        digit(end_, c);
        return false;
      case Field::prot:
        if (c == ' ') return next(Field::offset);
        if (c == 'r') area_.prot |= Prot::read;
        if (c == 'w') area_.prot |= Prot::write;
        if (c == 'x') area_.prot |= Prot::exec;
        if (c == 's') area_.shared = true;
        return false;
      case Field::offset:
        if (c == ' ') return next(Field::device);
        digit(area_.offset, c);
        return false;
      case Field::device:
        return c == ' ' ? next(Field::inode) : false;
      case Field::inode:
        if (c == ' ') return next(Field::rest);
        if (c != '0') area_.has_file = true;
        return false;
      case Field::rest:
        if ((length_ > 0 || c != ' ') && length_ < name_.size()) name_[length_++] = c;
        return false;
    }
    return false;
  }

  MappedArea taken() {
    area_.range = {Addr{start_}, Addr{end_}};
    area_.name = {name_.data(), length_};
    const MappedArea result = area_;
    area_ = {};
    start_ = end_ = 0;
    length_ = 0;
    return result;
  }

 private:
  enum class Field : std::uint8_t { start, end, prot, offset, device, inode, rest };

  bool next(Field field) {
    field_ = field;
    return false;
  }
  static void digit(std::uint64_t& value, char c) {
    value = value << 4 | static_cast<std::uint64_t>(c <= '9' ? c - '0' : c - 'a' + 10);
  }

  MappedArea area_;
  Field field_ = Field::start;
  std::uint64_t start_ = 0;
  std::uint64_t end_ = 0;
  std::array<char, 128> name_{};
  std::size_t length_ = 0;
};

/// The vsyscall page is in the upper half, where no VMA of the process can be.
bool is_user(const MappedArea& area) { return static_cast<std::int64_t>(area.range.start.value) >= 0; }

}  // namespace

void ProcessMemory::visit_areas(Range range, VisitFunction visit, void* context) const {
  if (!query_areas(range, visit, context)) parse_areas(range, visit, context);
}

bool ProcessMemory::query_areas(Range range, VisitFunction visit, void* context) const {
  Addr at = range.start;
  bool any = false;
  while (at < range.end) {
    AreaQuery query{};
    query.size = sizeof query;
    query.flags = kCoveringOrNext;
    query.addr = at.value;
    if (ioctl(maps_, kProcmapQuery, &query) != 0) return any || errno == ENOENT;
    any = true;
    if (query.start >= range.end.value) break;
    // The low bits are read, write, execute, as in PROT_.
    visit(context, {{Addr{query.start}, Addr{query.end}},
                    static_cast<Prot>(query.vma_flags & 7),
                    (query.vma_flags & kSharedArea) != 0,
                    query.inode != 0,
                    query.offset,
                    {}});
    at = Addr{query.end};
  }
  return true;
}

void ProcessMemory::parse_areas(Range range, VisitFunction visit, void* context) const {
  std::array<char, 8192> buffer;
  MapsParser parser;
  // An offset of our own: threads share the descriptor.
  off_t offset = 0;
  for (ssize_t got = 0; (got = pread(maps_, buffer.data(), buffer.size(), offset)) > 0; offset += got) {
    for (ssize_t i = 0; i < got; ++i) {
      if (!parser.take(buffer[i])) continue;
      const MappedArea area = parser.taken();
      if (area.range.overlaps(range) && is_user(area)) visit(context, area);
    }
  }
}

}  // namespace faultline::agent
