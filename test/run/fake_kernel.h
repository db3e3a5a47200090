#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/vm_flags.h"
#include "program/parser.h"
#include "run/executor.h"

namespace faultline::run::test {

/// What the fakes of one run share: what they were asked, and how they are to answer.
struct Script {
  std::vector<std::string> log;
  std::optional<Errno> error;             // every call fails with it
  std::optional<Signal> signal;           // every access ends in it
  std::uint64_t extra_fault_on_call = 0;  // this call, counted from 1, takes one exception
  std::uint64_t calls = 0;
  std::uint64_t readings = 0;  // of the counters
};

/// A kernel with no memory. A call takes 10 ns and no exception, an access 1 ns and one exception per access. munmap
/// alone is not supported.
class FakeKernel {
 public:
  static constexpr Counting kCounting = Counting::disturbs;
  static constexpr std::uint64_t kMostAccesses = 100;

  explicit FakeKernel(Script& script) : script_(&script) {}

  std::optional<std::string> unsupported(const CallRequest& call) const {
    if (call.sys == program::Sys::munmap) return "munmap";
    return std::nullopt;
  }
  CallOutcome call(const CallRequest& call) {
    script_->log.push_back(std::string(program::sys_name(call.sys)) + " " + std::to_string(call.arguments[0]));
    if (++script_->calls == script_->extra_fault_on_call) ++counters_[Counter::exceptions];
    if (script_->error) return {0 - static_cast<std::uint64_t>(script_->error->value), script_->error, 10};
    return {call.arguments[0], {}, 10};
  }
  std::optional<std::string> unsupported(const AccessRequest&) const { return std::nullopt; }
  AccessOutcome access(const AccessRequest& access) {
    script_->log.push_back("access " + std::to_string(access.address.value) + " x" + std::to_string(access.count));
    counters_[Counter::exceptions] += access.count;
    return {script_->signal, static_cast<double>(access.count)};
  }
  AccessOutcome place_code(Addr addr) { return access({AccessKind::store, addr, 1, kPageSize, 0, {}}); }

  Counters counters() {
    ++script_->readings;
    return counters_;
  }
  CounterSet known() const { return CounterSet().set(std::to_underlying(Counter::exceptions)); }
  Metric metric() const { return Metric::nanoseconds; }

  Shape shape(Range range) { return {range.pages(), {}, {}, {}}; }
  ProbeAnswer vmas(std::optional<Range>) { return 7; }
  ProbeAnswer resident(Range) { return std::unexpected("it is a fake"); }
  void settle() {}
  ProbeAnswer state(Range) { return std::unexpected("it is a fake"); }
  ProbeAnswer huge(Range) { return std::unexpected("it is a fake"); }
  ProbeAnswer perm(Addr) { return 0; }
  ProbeAnswer value(Addr addr) { return addr.value; }
  ProbeAnswer vm_flags(Addr) { return vm_flags_in("rd wr"); }
  ProbeAnswer flags(Range) { return std::unexpected("it is a fake"); }
  ProbeAnswer soft_dirty(Range) { return 0; }
  ProbeAnswer uffd_wp(Range) { return 0; }
  ProbeAnswer named(Addr, std::string_view name) { return name == "heap" ? 1 : 0; }
  ProbeAnswer pkey(Addr) { return 0; }
  ProbeAnswer max_map_count() { return 10; }

  KernelFailure child(std::string_view name, const std::function<void(FakeKernel&)>& body) {
    FakeKernel kernel(*script_);
    body(kernel);
    if (!name.empty()) living_.emplace_back(name);
    return std::nullopt;
  }
  bool exit_child(std::string_view name) { return std::erase(living_, name) != 0; }
  KernelFailure threads(std::uint64_t count, const std::function<void(FakeKernel&, std::uint64_t)>& body) {
    for (std::uint64_t i = 0; i < count; ++i) {
      FakeKernel kernel(*script_);
      body(kernel, i);
    }
    return std::nullopt;
  }
  std::optional<std::string> broken() const { return std::nullopt; }

 private:
  Script* script_;
  Counters counters_;
  std::vector<std::string> living_;
};
static_assert(Kernel<FakeKernel>);

inline program::Program parsed(std::string_view text) {
  auto program = program::parse(text, "test.fl");
  if (!program) {
    ADD_FAILURE() << program::render(program.error());
    return {};
  }
  return std::move(*program);
}

inline Report execute(std::string_view text, Script& script,
                      const std::vector<std::pair<std::string, std::uint64_t>>& params = {}) {
  const program::Program program = parsed(text);
  const Plan plan = make_plan(program);
  // Room to align it by hand; filled with rubbish, as the ledger promises not to depend on its contents.
  constexpr std::size_t kAlignment = 64;
  std::unique_ptr<std::byte[]> memory(new std::byte[Ledger::bytes(plan) + kAlignment]);
  void* aligned = memory.get();
  std::size_t room = Ledger::bytes(plan) + kAlignment;
  std::memset(aligned, 0xa5, std::size_t{1} << 20);
  std::align(kAlignment, Ledger::bytes(plan), aligned, room);
  Ledger ledger(plan, {static_cast<std::byte*>(aligned), Ledger::bytes(plan)});
  const program::MachineId machine{"fake", "x86-64", "6.12", ""};
  Context context{program, plan, ledger, machine, params, nullptr, {}};
  FakeKernel kernel(script);
  Executor<FakeKernel>(context, kernel).run();
  return ledger.report(plan);
}

inline Report execute(std::string_view text) {
  Script script;
  return execute(text, script);
}

}  // namespace faultline::run::test
