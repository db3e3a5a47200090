#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace faultline::exports {

/// What a reproducer needs besides its program. Each part is a piece of C; a reproducer holds those that it uses.
enum class CPart : std::uint8_t {
  access,         // loads, stores and atomics, with the signals that they end in
  fetch,          // executing an instruction
  code,           // access routines in a page
  children,       // fork
  threads,        // threads
  pages,          // which pages are present, and what they hold
  protection,     // perm()
  huge,           // which pages are parts of huge pages
  map_limit,      // max_map_count()
  version,        // the kernel's release
  shift,          // shifts by 64 or more
  divide,         // divisors that may be 0
  repetitions,    // figures by repetition of a measure block
  results,        // assertions of results
  expectations,   // `expect`
  unchecked,      // expectations that C cannot tell
  no_huge_pages,  // a program that says nothing of huge pages
};

struct CParts {
  std::set<CPart> used;
  std::set<std::string, std::less<>> constants;  // flags and error names, which a header may lack

  void use(CPart part) { used.insert(part); }
  bool has(CPart part) const { return used.contains(part); }
};

/// The numbers of measure blocks, by name.
using CMeasures = std::map<std::string, std::size_t, std::less<>>;

/// Is it a name that C, the headers or the parts use?
bool is_reserved_in_c(std::string_view name);

/// Everything that stands before the tables of operations, and what stands between these and the program.
std::string c_declarations(const CParts& parts);
std::string c_definitions(const CParts& parts);

}  // namespace faultline::exports
