#include "record/tracker.h"

#include <map>
#include <memory>
#include <utility>

#include "base/signal.h"
#include "program/copy.h"
#include "program/strace_statement.h"
#include "record/ranges.h"
#include "record/rewrite.h"

namespace faultline::record {
namespace {

using program::call_statement;
using program::Spelling;
using program::Statement;
using program::Sys;

std::uint64_t pages_of(const program::Access& access) {
  const auto length = constant(access.length);
  return length ? page_ceil(*length) / kPageSize : 1;
}

/// `amount` says how far a statement brings an interval.
template <class Amount>
std::vector<std::size_t> intervals(const Import& recording, std::size_t process, std::uint64_t length, Amount amount) {
  std::vector<std::size_t> starts;
  const program::Block& body = recording.processes[process].program.body;
  std::uint64_t done = length;
  for (std::size_t i = 0; i < body.size(); ++i) {
    const Origin* origin = origin_of(recording, body[i]);
    if (origin == nullptr) continue;
    if (is_mapping(*origin, body[i])) continue;
    if (done >= length) {
      starts.push_back(i);
      done = 0;
    }
    done += amount(*origin, body[i]);
  }
  return starts;
}

Statement protect(Range range, Prot prot) {
  return call_statement(
      kOwnPosition, Sys::mprotect,
      {{range.start.value, Spelling::address}, {range.bytes()}, {std::to_underlying(prot), Spelling::protection}});
}

/// The store that finds its page protected.
Statement store_that_faults(Addr page) {
  program::Access store;
  store.kind = AccessKind::store;
  store.address =
      std::make_unique<program::Expr>(kOwnPosition, program::Number{page.value, std::to_string(page.value)});
  store.assertion = program::ExpectSignal{kSigSegv, std::nullopt};
  Statement statement;
  statement.position = kOwnPosition;
  statement.node = std::move(store);
  return statement;
}

/// The pages that a statement stores to, and whether the program does it itself.
struct Stored {
  Range pages;
  bool by_kernel = false;
};
std::optional<Stored> stored(const Statement& statement) {
  if (const auto* access = std::get_if<program::Access>(&statement.node)) {
    const auto address = constant(access->address);
    const bool writes = access->kind == AccessKind::store || access->kind == AccessKind::atomic;
    if (!writes || !address) return std::nullopt;
    return Stored{Range::of(Addr{*address}.page_floor(), pages_of(*access) * kPageSize), false};
  }
  const auto* call = std::get_if<program::SystemCall>(&statement.node);
  if (call == nullptr || call->sys != Sys::read || call->arguments.size() < 3) return std::nullopt;
  const auto address = constant(call->arguments[1]);
  const auto length = constant(call->arguments[2]);
  if (!address || !length || *length > ~*address - kPageSize) return std::nullopt;
  return Stored{{Addr{*address}.page_floor(), Addr{page_ceil(*address + *length)}}, true};
}

class ByMprotect {
 public:
  ByMprotect(TrackedProgram& result, const std::vector<IntervalStart>& intervals) : result_(result) {
    for (const IntervalStart& interval : intervals) {
      starts_.emplace(&result.program.body[interval.statement], &interval.tracked);
    }
  }

  void run() {
    auto visit = [this](Ranges& guarded, Statement& statement, program::Block& block) {
      this->visit(guarded, statement, block);
    };
    rewrite(result_.program.body, Ranges{}, visit);
  }

 private:
  void visit(Ranges& guarded, Statement& statement, program::Block& block) {
    if (const auto start = starts_.find(&statement); start != starts_.end()) {
      for (const Range& range : *start->second) {
        block.push_back(protect(range, Prot::read));
        guarded.add(range);
      }
    }
    if (const auto stores = stored(statement)) before_store(guarded, *stores, block);
    if (const auto call = asked(statement); call && statement.position.line != 0) before_call(guarded, *call, block);
    block.push_back(std::move(statement));
  }

  void before_store(Ranges& guarded, const Stored& stores, program::Block& block) {
    const auto parts = guarded.overlapping(stores.pages);
    if (stores.by_kernel && !parts.empty()) ++result_.kernel_stores;
    for (const Range& part : parts) {
      for (Addr page = part.start; page < part.end; page = page + kPageSize) {
        if (!stores.by_kernel) block.push_back(store_that_faults(page));
        block.push_back(protect(Range::of(page, kPageSize), Prot::read | Prot::write));
        ++result_.dirty;
      }
    }
    guarded.remove(stores.pages);
  }

  /// What the program maps, unmaps and protects itself is not tracked until the next interval; what it moves is made
  /// writable first.
  static void before_call(Ranges& guarded, const Asked& call, program::Block& block) {
    switch (call.call->sys) {
      case Sys::mremap:
        for (const Range& part : guarded.overlapping(call.range)) {
          block.push_back(protect(part, Prot::read | Prot::write));
        }
        [[fallthrough]];
      case Sys::mmap:
      case Sys::munmap:
      case Sys::mprotect:
      case Sys::pkey_mprotect:
        guarded.remove(call.range);
        return;
      default:
        return;
    }
  }

  TrackedProgram& result_;
  std::map<const Statement*, const std::vector<Range>*> starts_;
};

}  // namespace

std::vector<std::size_t> intervals_of_calls(const Import& recording, std::size_t process, std::uint64_t calls) {
  return intervals(recording, process, calls,
                   [](const Origin& origin, const Statement&) -> std::uint64_t { return origin.is_call ? 1 : 0; });
}

std::vector<std::size_t> intervals_of_touches(const Import& recording, std::size_t process, std::uint64_t pages) {
  return intervals(recording, process, pages, [](const Origin&, const Statement& statement) -> std::uint64_t {
    if (const auto* access = std::get_if<program::Access>(&statement.node)) return pages_of(*access);
    const auto by_kernel = stored(statement);
    return by_kernel ? by_kernel->pages.pages() : 0;
  });
}

TrackedProgram tracked(const program::Program& program, Tracker tracker, const std::vector<IntervalStart>& intervals) {
  TrackedProgram result{program::copy(program), 0, 0};
  switch (tracker) {
    case Tracker::mprotect:
      ByMprotect(result, intervals).run();
      break;
  }
  return result;
}

}  // namespace faultline::record
