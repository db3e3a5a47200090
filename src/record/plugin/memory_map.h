#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace faultline::record {

/// A mapping, of the program or of QEMU, which shares its address space.
struct Mapping {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint64_t protection = 0;  // PROT_ bits
  bool shared = false;
  std::uint64_t offset = 0;
  std::string path;  // empty: anonymous
};

/// What /proc/self/maps says of the mapping that holds an address.
std::optional<Mapping> host_mapping(std::uint64_t address);

/// Which memory the recording has told of; whole pages.
class KnownMemory {
 public:
  void add(std::uint64_t start, std::uint64_t bytes);
  void remove(std::uint64_t start, std::uint64_t bytes);
  bool holds(std::uint64_t address) const;
  /// The part of a range around `address`, unknown itself, of which nothing is known.
  Mapping unknown_part(Mapping mapping, std::uint64_t address) const;

 private:
  void cut(std::uint64_t at);
  std::map<std::uint64_t, std::uint64_t> ranges_;  // by start: the end
};

}  // namespace faultline::record
