#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/page.h"
#include "mm/uffd_flags.h"
#include "program/program.h"
#include "record/import.h"

/// A recording's program as it would be if something kept track of the pages that it dirties.
namespace faultline::record {

/// How that can be done.
enum class Tracker : std::uint8_t {
  mprotect,    // write-protected by mprotect(2), and a handler of SIGSEGV that makes single pages writable again
  soft_dirty,  // 4 written to /proc/self/clear_refs, the bits read from pagemap(5)
  uffd_sync,   // UFFDIO_WRITEPROTECT, and a handler that takes the protection of single pages away
  uffd_async,  // the same with UFFD_FEATURE_WP_ASYNC: the kernel does that, and pagemap tells
};

/// Where an interval of tracking begins: before a statement of the process's body, with what is tracked from there on.
struct IntervalStart {
  std::size_t statement = 0;  // its index in the body
  std::vector<Range> tracked;
};

/// The statements at which intervals begin, the first that is no mapping, and then one after every so many memory calls
/// or touched pages of the process itself. Never empty where anything was recorded.
std::vector<std::size_t> intervals_of_calls(const Import& recording, std::size_t process, std::uint64_t calls);
std::vector<std::size_t> intervals_of_touches(const Import& recording, std::size_t process, std::uint64_t pages);

struct TrackedProgram {
  program::Program program;  // what the tracker does has line 0
  std::uint64_t dirty = 0;   // pages, each once in each interval, that the tracker has seen written to
  /// Stores by the kernel into what is protected, as of read(2): EFAULT, unless the program knows of the tracker. Here
  /// it makes the pages writable first.
  std::uint64_t kernel_stores = 0;
};

/// How a userfaultfd is asked for: the flags of userfaultfd(2), and the features of UFFDIO_API.
struct UserfaultfdSetUp {
  /// May one request be about several mappings? Up to 6.3 UFFDIO_WRITEPROTECT fails for more than one.
  enum class Requests : std::uint8_t { of_one_mapping, of_several };

  mm::UffdFlags flags = mm::UffdFlags::none;
  mm::UffdFeatures features = mm::UffdFeatures::none;
  Requests requests = Requests::of_several;
};

/// Forked children inherit the protection and the handler of SIGSEGV; otherwise they are not tracked.
TrackedProgram tracked(const program::Program& program, Tracker tracker, const std::vector<IntervalStart>& intervals,
                       const UserfaultfdSetUp& set_up = {});

}  // namespace faultline::record
