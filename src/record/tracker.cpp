#include "record/tracker.h"

#include <initializer_list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "base/signal.h"
#include "program/copy.h"
#include "program/ioctl.h"
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

/// The ranges that a tracker watches as the program runs: those of an interval's begin, without what was stored to
/// since then, and without what the program has mapped, unmapped or protected itself.
class Watch {
 public:
  Watch(TrackedProgram& result, const std::vector<IntervalStart>& intervals) : result_(result) {
    for (const IntervalStart& interval : intervals) {
      starts_.emplace(&result.program.body[interval.statement], &interval.tracked);
    }
  }

 protected:
  const std::vector<Range>* begins_at(const Statement& statement) const {
    const auto start = starts_.find(&statement);
    return start == starts_.end() ? nullptr : start->second;
  }
  static bool changes_mappings(Sys sys) {
    return sys == Sys::mremap || sys == Sys::mmap || sys == Sys::munmap || sys == Sys::mprotect ||
           sys == Sys::pkey_mprotect;
  }

  TrackedProgram& result_;

 private:
  std::map<const Statement*, const std::vector<Range>*> starts_;
};

class ByMprotect : Watch {
 public:
  using Watch::Watch;

  void run() {
    auto visit = [this](Ranges& guarded, Statement& statement, program::Block& block) {
      this->visit(guarded, statement, block);
    };
    rewrite(result_.program.body, Ranges{}, visit);
  }

 private:
  void visit(Ranges& guarded, Statement& statement, program::Block& block) {
    if (const auto* tracked = begins_at(statement)) {
      for (const Range& range : *tracked) {
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

  static void before_call(Ranges& guarded, const Asked& call, program::Block& block) {
    if (!changes_mappings(call.call->sys)) return;
    // What the program moves takes the protection along.
    if (call.call->sys == Sys::mremap) {
      for (const Range& part : guarded.overlapping(call.range)) {
        block.push_back(protect(part, Prot::read | Prot::write));
      }
    }
    guarded.remove(call.range);
  }
};

/// What the kernel keeps track of is about one process.
struct OfProcess {
  Ranges watched;
};
OfProcess forked(const OfProcess& /*parent*/) { return {}; }

class ByKernel : Watch {
 public:
  ByKernel(TrackedProgram& result, const std::vector<IntervalStart>& intervals, Tracker tracker,
           const UserfaultfdSetUp& set_up)
      : Watch(result, intervals), tracker_(tracker), set_up_(set_up) {}

  void run() {
    if (tracker_ != Tracker::soft_dirty) {
      descriptor_ = result_.program.slots.size();
      result_.program.slots.emplace_back(kDescriptor);
    }
    auto visit = [this](OfProcess& process, Statement& statement, program::Block& block) {
      this->visit(process.watched, statement, block);
    };
    rewrite(result_.program.body, OfProcess{}, visit);
  }

 private:
  static constexpr std::string_view kDescriptor = "tracker";
  static constexpr std::uint64_t kSoftDirty = 4;

  void visit(Ranges& watched, Statement& statement, program::Block& block) {
    if (const auto* tracked = begins_at(statement)) begin_interval(watched, *tracked, block);
    if (const auto stores = stored(statement)) before_store(watched, *stores, block);
    if (const auto call = asked(statement); call && statement.position.line != 0 && changes_mappings(call->call->sys)) {
      watched.remove(call->range);
    }
    block.push_back(std::move(statement));
  }

  void begin_interval(Ranges& watched, const std::vector<Range>& tracked, program::Block& block) {
    if (tracker_ == Tracker::soft_dirty) {
      block.push_back(call_statement(kOwnPosition, Sys::clear_refs, {{kSoftDirty}}));
    } else if (!opened_) {
      opened_ = true;
      block.push_back(call_statement_into(kOwnPosition, Sys::userfaultfd, {{std::to_underlying(set_up_.flags)}},
                                          {descriptor_, Spelling::variable, kDescriptor}));
      constexpr std::uint64_t kApi = 0xaa;
      block.push_back(request("UFFDIO_API", {kApi, std::to_underlying(set_up_.features)}));
    }
    for (const Range& range : tracked) {
      watched.add(range);
      if (tracker_ == Tracker::soft_dirty) continue;
      for (const Range& part : mappings(range)) {
        block.push_back(
            request("UFFDIO_REGISTER", {part.start.value, part.bytes(), std::to_underlying(mm::UffdModes::wp)}));
        block.push_back(write_protect(part, mm::UffdProtect::wp));
      }
    }
  }

  /// What is registered does not merge with what is mapped behind it later: one mapping without a tracker may be
  /// several now, with borders where tracked ones have ended.
  std::vector<Range> mappings(Range range) {
    std::vector<Range> parts;
    if (set_up_.requests == UserfaultfdSetUp::Requests::of_one_mapping) {
      Addr start = range.start;
      for (auto border = borders_.upper_bound(start); border != borders_.end() && *border < range.end; ++border) {
        parts.push_back({start, *border});
        start = *border;
      }
      parts.push_back({start, range.end});
    } else {
      parts.push_back(range);
    }
    borders_.insert({range.start, range.end});
    return parts;
  }

  void before_store(Ranges& watched, const Stored& stores, program::Block& block) {
    const auto parts = watched.overlapping(stores.pages);
    for (const Range& part : parts) result_.dirty += part.pages();
    const bool refused = tracker_ == Tracker::uffd_sync && has(set_up_.flags, mm::UffdFlags::user_mode_only);
    if (stores.by_kernel && refused && !parts.empty()) {
      ++result_.kernel_stores;
      for (const Range& part : parts) block.push_back(write_protect(part, mm::UffdProtect::none));
    }
    watched.remove(stores.pages);
  }

  Statement write_protect(Range range, mm::UffdProtect mode) const {
    return request("UFFDIO_WRITEPROTECT", {range.start.value, range.bytes(), std::to_underlying(mode)});
  }

  /// An ioctl_userfaultfd(2) of the tracker's.
  Statement request(const std::string& name, std::initializer_list<std::uint64_t> fields) const {
    program::SystemCall call;
    call.sys = Sys::ioctl;
    const auto add = [&](auto node) {
      call.arguments.push_back(std::make_unique<program::Expr>(kOwnPosition, std::move(node)));
    };
    add(program::Variable{program::Slot{static_cast<std::uint32_t>(descriptor_)}, std::string(kDescriptor)});
    add(program::NamedConstant{program::ioctl_named(name)->number, name});
    for (const std::uint64_t field : fields) add(program::Number{field, std::to_string(field)});
    Statement statement;
    statement.position = kOwnPosition;
    statement.node = std::move(call);
    return statement;
  }

  Tracker tracker_;
  const UserfaultfdSetUp& set_up_;
  std::size_t descriptor_ = 0;  // the variable of the userfaultfd
  bool opened_ = false;
  std::set<Addr> borders_;  // of what was tracked in any interval
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

TrackedProgram tracked(const program::Program& program, Tracker tracker, const std::vector<IntervalStart>& intervals,
                       const UserfaultfdSetUp& set_up) {
  TrackedProgram result{program::copy(program), 0, 0};
  switch (tracker) {
    case Tracker::mprotect:
      ByMprotect(result, intervals).run();
      break;
    case Tracker::soft_dirty:
    case Tracker::uffd_sync:
    case Tracker::uffd_async:
      ByKernel(result, intervals, tracker, set_up).run();
      break;
  }
  return result;
}

}  // namespace faultline::record
