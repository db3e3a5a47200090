#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "record/format.h"
#include "record/plugin/memory_map.h"

namespace faultline::record {

/// What the kernel maps of one ELF file when it executes it, and where it fills a page's end with zeros.
struct LoadedFile {
  std::vector<Mapping> mappings;
  std::vector<std::uint64_t> zeroed;
};

/// An ELF file's header as far as it decides that.
class ElfFile {
 public:
  static std::optional<ElfFile> read(const std::string& path);

  Machine machine() const { return machine_; }
  /// How far it was moved, if the byte at `offset` of the file lies at `address`.
  std::uint64_t bias_from(std::uint64_t address, std::uint64_t offset) const;
  /// The same, if its lowest executable segment begins at `address`.
  std::uint64_t bias_from_code(std::uint64_t address) const;
  LoadedFile loaded(std::uint64_t bias) const;

 private:
  struct Segment {
    std::uint64_t address = 0;
    std::uint64_t offset = 0;
    std::uint64_t in_file = 0;
    std::uint64_t in_memory = 0;
    std::uint64_t protection = 0;
  };
  std::string path_;
  Machine machine_{};
  std::vector<Segment> segments_;
};

}  // namespace faultline::record
