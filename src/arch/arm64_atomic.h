#pragma once

#include <cstdint>

namespace faultline::arch {

/// Whether the arm64 patch "force write fault for atomic RMW instructions" (v5 of 2024) takes this A64 instruction for
/// an atomic read-modify-write, so that its fault is handled as a write at once (B.4). The instruction is given as the
/// processor fetches it, a little-endian word.
///
/// Accepted: LDADD, LDCLR, LDEOR, LDSET, LDSMAX, LDSMIN, LDUMAX, LDUMIN and their ST aliases, SWP, CAS and
/// CASP with every ordering; the read-check-write (RCW) group, ST64BV and ST64BV0. Not accepted: LDAPR, LD64B and
/// ST64B, which share their encoding class, and exclusive pairs (LDXR, STXR), whose load faults by itself.
///
/// The decode is the patch's, and so as generous as it: of an encoding that the architecture leaves unallocated it may
/// say yes.
bool is_atomic_rmw(std::uint32_t instruction);

}  // namespace faultline::arch
