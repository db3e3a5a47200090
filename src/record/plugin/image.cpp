#include "record/plugin/image.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace faultline::record {
namespace {

constexpr std::uint64_t kPageMask = 4095;
constexpr std::uint64_t floor(std::uint64_t address) { return address & ~kPageMask; }
constexpr std::uint64_t ceiling(std::uint64_t address) { return floor(address + kPageMask); }

class OpenFile {
 public:
  explicit OpenFile(const std::string& path) : descriptor_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~OpenFile() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  bool read(void* to, std::size_t bytes, std::uint64_t offset) const {
    return descriptor_ >= 0 && pread(descriptor_, to, bytes, static_cast<off_t>(offset)) == static_cast<ssize_t>(bytes);
  }

 private:
  int descriptor_;
};

}  // namespace

std::optional<ElfFile> ElfFile::read(const std::string& path) {
  const OpenFile file(path);
  Elf64_Ehdr header{};
  if (!file.read(&header, sizeof header, 0) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return std::nullopt;
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_phentsize != sizeof(Elf64_Phdr)) return std::nullopt;
  if (header.e_machine != EM_X86_64 && header.e_machine != EM_AARCH64) return std::nullopt;
  ElfFile elf;
  elf.path_ = path;
  elf.machine_ = header.e_machine == EM_X86_64 ? Machine::x86_64 : Machine::arm64;
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment{};
    if (!file.read(&segment, sizeof segment, header.e_phoff + i * sizeof segment)) return std::nullopt;
    if (segment.p_type != PT_LOAD) continue;
    elf.segments_.push_back({segment.p_vaddr, segment.p_offset, segment.p_filesz, segment.p_memsz,
                             ((segment.p_flags & PF_R) != 0 ? PROT_READ : 0U) |
                                 ((segment.p_flags & PF_W) != 0 ? PROT_WRITE : 0U) |
                                 ((segment.p_flags & PF_X) != 0 ? PROT_EXEC : 0U)});
  }
  if (elf.segments_.empty()) return std::nullopt;
  return elf;
}

std::uint64_t ElfFile::bias_from(std::uint64_t address, std::uint64_t offset) const {
  for (const Segment& segment : segments_) {
    if (offset >= segment.offset && offset < segment.offset + segment.in_file) {
      return address - (offset - segment.offset) - segment.address;
    }
  }
  return 0;
}

std::uint64_t ElfFile::bias_from_code(std::uint64_t address) const {
  std::uint64_t lowest = ~std::uint64_t{0};
  for (const Segment& segment : segments_) {
    if ((segment.protection & PROT_EXEC) != 0) lowest = std::min(lowest, segment.address);
  }
  return lowest == ~std::uint64_t{0} ? 0 : address - lowest;
}

LoadedFile ElfFile::loaded(std::uint64_t bias) const {
  LoadedFile result;
  for (const Segment& segment : segments_) {
    const std::uint64_t start = bias + segment.address;
    const std::uint64_t file_end = start + segment.in_file;
    const std::uint64_t end = start + segment.in_memory;
    const bool writable = (segment.protection & PROT_WRITE) != 0;
    if (segment.in_file > 0) {
      result.mappings.push_back(
          {floor(start), ceiling(file_end), segment.protection, false, floor(segment.offset), path_});
      if (end > file_end && writable && file_end != floor(file_end)) result.zeroed.push_back(file_end);
    }
    const std::uint64_t behind = segment.in_file > 0 ? ceiling(file_end) : floor(start);
    if (ceiling(end) > behind) result.mappings.push_back({behind, ceiling(end), segment.protection, false, 0, {}});
  }
  return result;
}

}  // namespace faultline::record
