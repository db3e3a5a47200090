#pragma once

/// Faultline's model of Linux memory management, as a library.
///
///     find_package(Faultline REQUIRED)
///     target_link_libraries(my_test PRIVATE Faultline::mm)
///
///     #include <faultline/model.h>
///     using namespace faultline;
///     mm::System system(*mm::parse_profile("6.12"));       // a machine and the kernel that runs it
///     mm::AddressSpace process(system);                    // one process's memory
///     const Addr block = *process.mmap(Addr{}, 32 * kPageSize, Prot::read | Prot::write,
///                                      MapFlags::private_ | MapFlags::anonymous);
///     process.store(block, 1);                             // or the Signal that it ends in
///     process.counters()[Counter::exceptions];             // what it cost
///
/// Where to look, in the words of the manual pages:
///
///   mmap(2) munmap(2) mprotect(2) madvise(2) mseal(2) mlock(2) brk(2)
///   fork(2)                                                              mm/address_space.h, AddressSpace
///   loads, stores, atomics and fetches                                   mm/address_space.h, AddressSpace
///   proc_pid_maps(5), pagemap(5), mincore(2): what is mapped where       mm/address_space.h, RangeState and PageState;
///                                                                        mm/vma.h, Vma
///   getrusage(2): what has been counted                                  base/counters.h, Counter
///   errno(3): what a call failed with                                    base/errno.h, Errno and Result
///   sigaction(2): what an access ended in                                base/signal.h, Signal
///   mmap(2), madvise(2): PROT_, MAP_ and MADV_ values                    base/flags.h, Prot, MapFlags, Advice
///   sysctl(8): vm.max_map_count and the like                             mm/system.h, Tunables
///   which kernel to be, and each policy of it                            mm/profile.h, Profile
///   why: each decision as it is taken                                    mm/trace.h, Observer
///
/// The library is deterministic: the same calls on the same profile give the same figures. Nothing in it is
/// thread-safe.

#include "arch/arch.h"
#include "base/counters.h"
#include "base/errno.h"
#include "base/flags.h"
#include "base/page.h"
#include "base/signal.h"
#include "mm/address_space.h"
#include "mm/profile.h"
#include "mm/system.h"
#include "mm/trace.h"
#include "mm/vma.h"
