#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/counters.h"
#include "base/page.h"
#include "mm/address_space.h"
#include "mm/trace.h"
#include "report/page_history.h"
#include "run/step.h"

/// Parts of a run as programs of their own.
namespace faultline::exports {

/// The operations that a slice is about: those that all of these name which are given.
struct Choice {
  std::optional<std::pair<std::uint64_t, std::uint64_t>> steps;  // executed operations, counted from 1
  std::optional<Range> range;                                    // of addresses: what works on a page of it
  std::optional<std::uint32_t> line;                             // of the program
  /// A part of the name of a place of a recording: what was done there, and the accesses that fault later on pages that
  /// calls from there were the last to change.
  std::string site;
  std::size_t most = 200;  // the first of them
};

/// The name of the place that a statement was made of; empty where there is none.
using SiteOf = std::function<std::string(const program::Statement&)>;

/// What an operation did, as far as a reproducer has to do the same.
struct Behaviour {
  std::uint64_t value = 0;  // 0 for a descriptor: its number depends on others
  std::optional<Errno> error;
  std::optional<Signal> signal;
  Counters counted;                   // without what other memory has a share in: tables, locks, VMAs looked at
  std::optional<std::uint64_t> vmas;  // in its range, afterwards
};

enum class EventKind : std::uint8_t { operation, fork, exit };

/// Something that happened in a run, in the order in which the model did it.
struct Event {
  EventKind kind{};
  bool chosen = false;
  std::uint8_t arguments_count = 0;
  std::uint32_t process = 0;
  std::uint32_t child = 0;                        // of a fork
  const program::Statement* statement = nullptr;  // of an operation; belongs to the program
  std::array<std::uint64_t, 6> arguments{};       // of an operation
  std::uint64_t value = 0;                        // of a call
  std::optional<Errno> error;                     // of a call
  std::optional<Signal> signal;                   // of an access
  std::string name;                               // of a child that is forked or ends
};

struct Trace {
  std::vector<Event> events;
  std::vector<Behaviour> chosen;  // of the chosen operations, in order
  std::uint64_t steps = 0;        // that the program executed
  std::uint64_t left_out = 0;     // chosen operations beyond Choice::most
};

/// What an operation did, read when it has ended.
Behaviour behaviour_of(const run::Step& step, const run::StepOutcome& outcome, const mm::AddressSpace* space);

/// Watches a model run a program, and keeps what happened.
class Tracer : public run::StepListener, public mm::Observer {
 public:
  Tracer(const Choice& choice, SiteOf site_of) : choice_(choice), site_of_(std::move(site_of)) {}

  void begin(const run::Step& step) override;
  void end(const run::Step& step, const run::StepOutcome& outcome) override;
  void child_named(std::uint32_t child, std::string_view name) override;
  void forked(std::uint32_t parent, std::uint32_t child) override;
  void child_ends(std::uint32_t parent, std::string_view name) override;
  void on(const mm::Event& event) override;
  void after(const mm::AddressSpace& space) override { space_ = &space; }

  const Trace& trace() const { return trace_; }

 private:
  bool is_chosen(const run::Step& step, const run::StepOutcome& outcome);
  bool of_site(const run::Step& step, std::optional<Range> range);

  Choice choice_;
  SiteOf site_of_;
  Trace trace_;
  const mm::AddressSpace* space_ = nullptr;
  std::string next_name_;
  std::map<std::uint32_t, report::PageHistory> histories_;  // by process
  std::vector<Addr> faulted_;                               // pages, in this step
};

}  // namespace faultline::exports
