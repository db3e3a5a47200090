#pragma once

#include <cstdint>

#include "base/errno.h"
#include "base/page.h"
#include "mm/uffd_flags.h"
#include "mm/vma.h"

namespace faultline::mm {

class AddressSpace;
struct Mm;

/// What userfaultfd(2) gives (userfaultfd_ctx), and the requests of ioctl_userfaultfd(2) that it answers (D.9). It is
/// about the address space that made it, also where a forked child uses it, and may outlive it: requests are ESRCH or
/// ENOMEM then. Ranges that are not whole pages of user space are EINVAL; so is everything before enable().
class Userfaultfd {
 public:
  Userfaultfd(Mm& mm, UffdId id, UffdFlags flags) : mm_(&mm), id_(id), flags_(flags) {}
  /// The last descriptor is closed: whatever is registered is so no more.
  ~Userfaultfd();
  Userfaultfd(const Userfaultfd&) = delete;
  Userfaultfd& operator=(const Userfaultfd&) = delete;

  /// UFFDIO_API: EINVAL for another api, a feature that the kernel lacks, and the second time; EPERM for
  /// UFFD_FEATURE_EVENT_FORK, which takes a privilege.
  Result<void> enable(std::uint64_t api, UffdFeatures features);
  /// UFFDIO_REGISTER: EINVAL where nothing is mapped or not for that mode, EPERM for what may never be written, EBUSY
  /// for what another one watches.
  Result<void> watch(Addr start, std::uint64_t length, UffdModes modes);
  /// UFFDIO_UNREGISTER.
  Result<void> unwatch(Addr start, std::uint64_t length);
  /// UFFDIO_WAKE: nobody waits here.
  Result<void> wake(Addr start, std::uint64_t length);
  /// UFFDIO_WRITEPROTECT: ENOENT where it is not registered for that.
  Result<void> write_protect(Addr start, std::uint64_t length, UffdProtect mode);
  /// UFFDIO_COPY: from the memory of `caller`. ENOENT outside of one registered mapping, EEXIST where a page is, EFAULT
  /// for a source that cannot be read and beyond the end of a file; EAGAIN where only the first pages were copied.
  Result<void> copy(AddressSpace& caller, Addr target, Addr source, std::uint64_t length, UffdFill mode);
  /// UFFDIO_ZEROPAGE: errors as copy().
  Result<void> zero_page(Addr start, std::uint64_t length, UffdFill mode);

  UffdId id() const { return id_; }
  UffdFlags flags() const { return flags_; }
  UffdFeatures features() const { return features_; }
  /// The address space is gone.
  void orphan() { mm_ = nullptr; }

 private:
  enum class Stage : std::uint8_t { opened, enabled };

  /// The range, if requests are accepted at all and it is one.
  Result<Range> checked(Addr start, std::uint64_t length) const;

  Mm* mm_;
  UffdId id_;
  UffdFlags flags_;
  Stage stage_ = Stage::opened;
  UffdFeatures features_ = UffdFeatures::none;
};

}  // namespace faultline::mm
