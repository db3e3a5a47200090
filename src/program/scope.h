#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "program/nearest.h"
#include "program/program.h"

namespace faultline::program {

/// What a name stands for, which decides whether a statement may give it another value.
enum class NameKind : std::uint8_t {
  param,     // only --set
  variable,  // any statement
  loop,      // the counter of `for`, `thread`: only its own block
};

struct Binding {
  Slot slot;
  NameKind kind = NameKind::variable;
  std::size_t scope = 0;   // how many blocks stand around it
  std::uint32_t line = 0;  // where it was defined
};

/// The variables visible at a place of the program. A name is visible from its definition to the end of its block, and
/// hides the same name of a block outside. Names are views that must outlive this object.
class Scopes {
 public:
  void open() { defined_.emplace_back(); }
  void close();

  /// The innermost binding of the name, or null.
  const Binding* find(std::string_view name) const;
  /// The binding of the name in the innermost block itself, or null.
  const Binding* find_here(std::string_view name) const;
  /// Gives the name a new slot in the innermost block. The caller knows that find_here() is null.
  Slot define(std::string_view name, NameKind kind, std::uint32_t line);

  void offer_all(Nearest& nearest) const;
  /// The names of all slots that were ever given out.
  std::vector<std::string> take_slots() { return std::move(slots_); }

 private:
  std::unordered_map<std::string_view, std::vector<Binding>> bindings_;  // innermost last
  std::vector<std::vector<std::string_view>> defined_{1};  // by block, so that closing one costs its names
  std::vector<std::string> slots_;
};

}  // namespace faultline::program
