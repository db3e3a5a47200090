#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "record/import.h"

namespace faultline::record {

/// What stands at a place of a file.
struct Symbol {
  std::string function;  // empty: no symbol
  std::string file;      // of the source; empty: no debugging information
  std::uint32_t line = 0;
};

/// A place, or a call on the way there.
struct SiteFrame {
  std::string function;  // "fill"; without a symbol "libz.so.1.2.13+0x4f20"
  std::string file;      // of the source, as debugging information has it; empty where there is none
  std::uint32_t line = 0;
  std::string object;  // the ELF file; empty for what lies in none
};

/// Names the places of a recording by the symbols of its files as they are now, with elfutils: symbol tables, debugging
/// information, and the separate files that hold it. A file that is gone or stripped gives "NAME+0xOFFSET".
class Symbols {
 public:
  explicit Symbols(const Import& recording);
  ~Symbols();
  Symbols(const Symbols&) = delete;
  Symbols& operator=(const Symbols&) = delete;

  /// Where the program itself did it: of the place and its callers, without those in the C library's files, the
  /// innermost with debugging information, else the innermost; if all are in the C library, the place. "cycle
  /// loop.c:12", "libz.so.1.2.13+0x4f20".
  const std::string& label(SiteIndex site);

  /// Where that is. The caller of a site is a call.
  enum class Is : std::uint8_t { place, call };
  const SiteFrame& frame(SiteIndex site, Is is);

 private:
  class File;
  struct Place {
    const Code* code = nullptr;
    std::uint64_t offset = 0;
    Symbol symbol;
  };
  Place place(const SiteTable::Node& node, bool is_caller);
  static std::string text(const Place& place, std::uint64_t address);

  const Import& recording_;
  std::map<std::string, std::unique_ptr<File>> files_;
  std::map<SiteIndex, std::string> labels_;
  std::map<std::pair<SiteIndex, Is>, SiteFrame> frames_;
};

}  // namespace faultline::record
