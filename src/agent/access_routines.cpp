#include "agent/arch.h"

// The instructions themselves stand in each architecture's source, under these names.
extern "C" {
extern const std::byte faultline_routines[];
extern const std::byte faultline_routine_load[];
extern const std::byte faultline_routine_store[];
extern const std::byte faultline_routine_atomic[];
extern const std::byte faultline_routines_end[];
}

namespace faultline::agent::arch {

std::span<const std::byte> access_routines() {
  return {faultline_routines, static_cast<std::size_t>(faultline_routines_end - faultline_routines)};
}

std::size_t routine_offset(AccessKind kind) {
  const std::byte* routine = faultline_routines;
  switch (kind) {
    case AccessKind::load:
      routine = faultline_routine_load;
      break;
    case AccessKind::store:
      routine = faultline_routine_store;
      break;
    case AccessKind::atomic:
      routine = faultline_routine_atomic;
      break;
    case AccessKind::fetch:
      break;
  }
  return static_cast<std::size_t>(routine - faultline_routines);
}

}  // namespace faultline::agent::arch
