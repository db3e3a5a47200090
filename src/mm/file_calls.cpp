// ftruncate(2) of a memfd.
#include "mm/calls.h"
#include "mm/object.h"

namespace faultline::mm {

Result<void> do_ftruncate(Mm& mm, const File& file, std::uint64_t length) {
  if (length > kLargestFile || !file.writable()) return mm.refuse(EINVAL, Rule::bad_argument, {});
  Shmem& object = *file.object;
  if (length < object.size() && has(object.seals(), FileSeals::shrink)) return mm.refuse(EPERM, Rule::bad_argument, {});
  if (length > object.size() && has(object.seals(), FileSeals::grow)) return mm.refuse(EPERM, Rule::bad_argument, {});
  resize_object(mm, object, length);
  return {};
}

}  // namespace faultline::mm
