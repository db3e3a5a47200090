#pragma once

#include <cstdint>

#include "mm/mm.h"
#include "mm/shmem.h"

/// Changes of an object that every mapping of it has to see, in whatever process. Page numbers are the object's.
namespace faultline::mm {

/// Do private copies of the object's pages go with them?
enum class Copies : std::uint8_t { stay, go };

/// Unmaps the pages [first, last) of the object everywhere (unmap_mapping_range). What it costs is counted in `mm`,
/// whose process made the call.
void unmap_object(Mm& mm, const Shmem& object, std::uint64_t first, std::uint64_t last, Copies copies);

/// Makes the object end at `size` bytes (shmem_setattr): pages beyond go, with the private copies of them, and the rest
/// of the last page is cleared.
void resize_object(Mm& mm, Shmem& object, std::uint64_t size);

/// Takes the pages [first, last) out (FALLOC_FL_PUNCH_HOLE): they read as zero again; private copies stay.
void punch_hole(Mm& mm, Shmem& object, std::uint64_t first, std::uint64_t last);

}  // namespace faultline::mm
