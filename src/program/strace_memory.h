#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "base/page.h"

namespace faultline::program {

/// What a log tells of a range of memory.
enum class RecordedState : std::uint8_t {
  unknown,  // nothing: it may have been mapped before the log begins
  unmapped,
  anonymous,
  file,  // a file mapping, imported as anonymous memory
};

/// Which memory a log has mapped so far. A copy shares its content until one of both changes. Ranges consist of whole
/// pages; each operation takes logarithmic time in the known ranges, and linear in those that it touches.
class RecordedMemory {
 public:
  void set(Range range, RecordedState state);

  bool any(Range range, RecordedState state) const;
  bool any_mapped(Range range) const { return any(range, RecordedState::anonymous) || any(range, RecordedState::file); }
  bool all_mapped(Range range) const {
    return !any(range, RecordedState::unknown) && !any(range, RecordedState::unmapped);
  }

  enum class Unmapped : std::uint8_t { any, unknown };
  /// The parts of a range that the log has not mapped, or of which it tells nothing; in order.
  std::vector<Range> unmapped_parts(Range range, Unmapped which) const;

 private:
  struct Known {
    std::uint64_t end = 0;
    RecordedState state = RecordedState::unknown;
  };
  using Ranges = std::map<std::uint64_t, Known>;  // by start; disjoint; neighbours of one state are one range

  template <class Visit>  // bool(Range, RecordedState): go on?
  void visit(Range range, Visit visit) const;
  Ranges& own();
  static void cut(Ranges& ranges, std::uint64_t at);

  std::shared_ptr<Ranges> ranges_ = std::make_shared<Ranges>();
};

}  // namespace faultline::program
