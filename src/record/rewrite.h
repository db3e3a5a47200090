#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "base/flags.h"
#include "base/page.h"
#include "program/program.h"
#include "record/import.h"

/// What changes a recording's program into one that does something else.
namespace faultline::record {

/// Of statements that stand for nothing recorded.
inline constexpr program::Position kOwnPosition{0, 0};

/// What the numbers, names and flags of a recording's statement come to; nothing for a variable.
std::optional<std::uint64_t> constant(const program::ExprPtr& expr);

/// A call of which the first two arguments are an address and a length.
struct Asked {
  program::SystemCall* call = nullptr;
  std::uint64_t address = 0;
  std::uint64_t length = 0;
  Range range{};                     // of pages
  std::optional<Prot> protection{};  // of mmap and mprotect
};

/// Nothing for any other statement, and for a range that is empty or none.
std::optional<Asked> asked(program::Statement& statement);

/// Was the statement there, or found, without a call of the program's?
bool is_mapping(const Origin& origin, const program::Statement& statement);

/// Makes a signal an access's result, which would end the run.
void survive_signals(program::Statement& statement);

/// What of a state of memory a forked child begins with; a copy, unless the state says otherwise.
template <class State>
State forked(const State& state) {
  return state;
}

/// Visits a block's statements, those of children too; `visit` is given each and gives what stands in its place.
template <class State, class Visit>
void rewrite(program::Block& block, State state, Visit& visit) {
  program::Block result;
  result.reserve(block.size());
  for (program::Statement& statement : block) {
    survive_signals(statement);
    if (auto* child = std::get_if<program::Child>(&statement.node)) {
      rewrite(child->body, forked(state), visit);
      result.push_back(std::move(statement));
    } else {
      visit(state, statement, result);
    }
  }
  block = std::move(result);
}

}  // namespace faultline::record
