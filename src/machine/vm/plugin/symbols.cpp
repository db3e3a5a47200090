#include "machine/vm/plugin/symbols.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>

namespace faultline::machine::vm {

namespace {

Entry entry_of(char kind) {
  switch (kind) {
    case 'i':
      return Entry::interrupt;
    case 'e':
      return Entry::exception;
    case 'p':
      return Entry::fault;
    case 'h':
      return Entry::fault_handler;
    case 's':
      return Entry::sends_ipi;
    default:
      return Entry::none;
  }
}

}  // namespace

bool Symbols::read(const char* path) {
  std::FILE* file = std::fopen(path, "r");
  if (file == nullptr) return false;
  char kind = 0;
  for (std::uint64_t address = 0; std::fscanf(file, "%" SCNx64 " %c%*[^\n]", &address, &kind) == 2;) {
    addresses_.push_back(address);
    entries_.push_back(entry_of(kind));
  }
  std::fclose(file);
  return true;
}

Entry Symbols::entry(std::uint64_t vaddr) const {
  const auto found = std::ranges::lower_bound(addresses_, vaddr);
  if (found == addresses_.end() || *found != vaddr) return Entry::none;
  return entries_[static_cast<std::size_t>(found - addresses_.begin())];
}

std::uint32_t Symbols::function(std::uint64_t vaddr) const {
  const auto after = std::ranges::upper_bound(addresses_, vaddr);
  return static_cast<std::uint32_t>(after - addresses_.begin()) - 1;
}

}  // namespace faultline::machine::vm
