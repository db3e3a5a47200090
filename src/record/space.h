#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "program/program.h"
#include "program/strace_space.h"
#include "program/strace_tally.h"
#include "record/recording.h"
#include "record/sites.h"

namespace faultline::record {

/// What a program that is being made shares among its address spaces.
struct Making {
  std::vector<std::string> slots;
  program::StraceTally tally;
  std::uint64_t capped_files = 0;  // larger than what is put into the model's page cache
};

/// An address space of a recording, and the statements made of what happened in it: calls as those of a log of strace,
/// files as memfds whose pages are in the page cache, and accesses.
class Space {
 public:
  /// The variable of every program that holds a descriptor of /dev/zero, from which the kernel's stores come.
  static constexpr std::uint64_t kZeros = 0;

  /// The first statement of a program, whose variables are empty yet.
  void begin(Making& making);
  /// A child's, at fork.
  Space forked() const;

  /// Again for one that has another size now.
  void add_file(const File& file, Making& making);
  bool knows_file(std::uint64_t id) const { return id == 0 || files_.contains(id); }

  // `origin` becomes the line of the statements' positions.
  void add_mapping(const Mapped& mapped, std::uint32_t origin, Making& making);
  void add_call(const MemoryCall& call, std::uint32_t origin, Making& making);
  void add_access(const Access& access, std::uint32_t origin, SiteIndex site);
  void add_refused(const Refused& refused, std::uint32_t origin);
  std::size_t add_child(std::uint32_t origin) { return memory_.add_child({origin, 1}); }
  program::Block& statements() { return memory_.statements(); }

 private:
  struct FileState {
    std::uint64_t bytes = 0;
    std::uint64_t cached = 0;           // bytes from the file's begin whose pages are there
    std::optional<std::uint64_t> slot;  // the memfd's variable
  };
  /// The last statement, if it is an access that the next page may be added to.
  struct Run {
    std::size_t statement = 0;
    Touch touch{};
    SiteIndex site = kNoSite;
    std::uint64_t first_page = 0;
    std::uint64_t pages = 0;
  };

  /// The descriptor to map that file by: of a memfd whose first `bytes` are in the page cache; ~0 for a file that has
  /// no pages of its own.
  std::uint64_t descriptor_of(std::uint64_t file, std::uint64_t bytes, Making& making);
  void truncate(std::uint64_t file, std::uint64_t bytes, Making& making);
  void cache(FileState& file, std::uint64_t bytes, Making& making);
  void store_by_kernel(const Access& access, program::Position position);

  program::RecordedSpace memory_;
  std::map<std::uint64_t, FileState> files_;
  std::optional<Run> run_;
};

}  // namespace faultline::record
