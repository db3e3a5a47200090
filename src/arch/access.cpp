#include "arch/access.h"

namespace faultline::arch {
namespace {

bool can_read(const Translation& entry) { return entry.valid && entry.readable && !entry.key_denied; }
bool can_write(const Translation& entry) { return entry.valid && entry.writable && !entry.key_denied; }

}  // namespace

Report check_access(Arch arch, AccessKind kind, const Translation& entry) {
  switch (kind) {
    case AccessKind::fetch:
      return entry.valid && entry.executable ? Report::granted : Report::fetch;
    case AccessKind::store:
      return can_write(entry) ? Report::granted : Report::write;
    case AccessKind::load:
      return can_read(entry) ? Report::granted : Report::read;
    case AccessKind::atomic:
      if (can_read(entry) && can_write(entry)) return Report::granted;
      if (arch == Arch::arm64 && !can_read(entry)) return Report::read;
      return Report::write;
  }
  return Report::granted;
}

}  // namespace faultline::arch
