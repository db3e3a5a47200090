#pragma once

#include <cstdint>

namespace faultline::mm {

/// What the kernel's tree of VMAs took: to be changed, and to be searched.
struct TreeWork {
  // A maple tree, from 6.1 on.
  std::uint64_t stores = 0;
  std::uint64_t nodes = 0;     // written anew: readers may still be in the old ones, which hardly ever change in place
  std::uint64_t entries = 0;   // copied into them
  std::uint64_t reserved = 0;  // set aside before the store, and given back where it took less
  std::uint64_t searched = 0;  // entries looked at for a free range
  // Stores that do more than copy a leaf:
  std::uint64_t splits = 0;  // a leaf had no room for them
  std::uint64_t joins = 0;   // they left a leaf too few ranges
  std::uint64_t spans = 0;   // over more than one leaf
  // Either.
  std::uint64_t levels = 0;  // passed on the way to a VMA, to where one belongs, or to the one before it
  // A red-black tree, before.
  std::uint64_t gaps = 0;         // largest gaps below a VMA that were computed again
  std::uint64_t rotations = 0;    // and recolourings, which both keep it balanced
  std::uint64_t walked = 0;       // VMAs passed in search of a gap
  std::uint64_t cache_slots = 0;  // of the last VMAs found, that were looked at before the tree was

  std::uint64_t reshaped() const { return splits + joins + spans; }
};

}  // namespace faultline::mm
