#include "random_program.h"

#include <array>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "base/counters.h"
#include "base/signal.h"
#include "program/constants.h"
#include "program/ioctl.h"

namespace faultline::program {
namespace {

struct Known {
  std::string name;
  Slot slot;
  bool assignable = false;
  bool param = false;
};

class Builder {
 public:
  explicit Builder(const std::vector<std::uint32_t>& choices) : choices_(choices) {}

  Program build() {
    if (flip()) program_.answers = "What does \"this\" cost? # é";
    program_.body = block(0);
    return std::move(program_);
  }

 private:
  std::uint32_t pick(std::size_t below) {
    return next_ < choices_.size() ? choices_[next_++] % static_cast<std::uint32_t>(below) : 0;
  }
  bool flip() { return pick(2) == 1; }

  Block block(unsigned depth) {
    const std::size_t outside = known_.size();
    Block body;
    const std::uint32_t length = depth == 0 ? 12 : pick(4);
    for (std::uint32_t i = 0; i < length && next_ < choices_.size(); ++i) {
      Statement statement;
      statement.node = node(depth, outside);
      body.push_back(std::move(statement));
    }
    known_.resize(outside);
    return body;
  }

  Slot define(std::string name, bool assignable, bool param = false) {
    const Slot slot{static_cast<std::uint32_t>(program_.slots.size())};
    program_.slots.push_back(name);
    known_.push_back({std::move(name), slot, assignable, param});
    return slot;
  }
  std::string fresh_name() {
    // Words that mean something in other places are good names here.
    constexpr auto kNames = std::to_array<std::string_view>({"a", "size", "count", "load", "mmap", "code", "x", "i"});
    return std::string(kNames[pick(kNames.size())]) + (flip() ? "" : std::to_string(program_.slots.size()));
  }
  /// A name that is new in the innermost block, whose names begin at `outside`.
  std::string new_name(std::size_t outside) {
    std::string name = fresh_name();
    for (std::size_t i = outside; i < known_.size(); ++i) {
      if (known_[i].name == name) return "v" + std::to_string(program_.slots.size());
    }
    return name;
  }
  /// What the name means here, or null.
  const Known* visible(const std::string& name) const {
    for (std::size_t i = known_.size(); i-- > 0;) {
      if (known_[i].name == name) return &known_[i];
    }
    return nullptr;
  }

  decltype(Statement::node) node(unsigned depth, std::size_t outside) {
    const std::uint32_t kinds = depth < 4 ? 13 : 7;
    switch (pick(kinds)) {
      case 0:
        return access();
      case 1:
        return system_call();
      case 2: {
        Let let;
        let.value = expr(3);
        let.name = new_name(outside);
        let.slot = define(let.name, true);
        return let;
      }
      case 3: {
        if (known_.empty()) return PlaceCode{expr(2)};
        const Known target = *visible(known_[pick(known_.size())].name);
        if (!target.assignable) return PlaceCode{expr(2)};
        Let let;
        let.rebinds = true;
        let.name = target.name;
        let.slot = target.slot;
        let.value = expr(3);
        return let;
      }
      case 4:
        return PlaceCode{expr(2)};
      case 5:
        return expectation();
      case 6:
        if (children_.empty()) return access();
        return ExitChild{children_[pick(children_.size())]};
      case 7: {
        if (depth > 0) return access();
        Param param;
        in_param_ = true;
        param.value = expr(2);
        in_param_ = false;
        param.name = new_name(outside);
        param.slot = define(param.name, false, true);
        return param;
      }
      case 8: {
        Repeat repeat;
        repeat.count = expr(2);
        repeat.body = block(depth + 1);
        return repeat;
      }
      case 9: {
        For loop;
        loop.first = expr(2);
        loop.limit = expr(2);
        loop.name = fresh_name();
        const std::size_t before = known_.size();
        loop.slot = define(loop.name, false);
        // The body's own names begin with the counter, which they must not repeat.
        loop.body = body_after(before, depth);
        return loop;
      }
      case 10: {
        Measure measure;
        measure.name = block_text() + std::to_string(measures_.size());
        measures_.push_back(measure.name);
        if (flip()) measure.count = expr(2);
        measure.body = block(depth + 1);
        return measure;
      }
      case 11: {
        Child child;
        if (flip()) {
          child.name = block_text();
          children_.push_back(child.name);
        }
        child.body = block(depth + 1);
        return child;
      }
      default: {
        Threads threads;
        threads.count = expr(2);
        const std::size_t before = known_.size();
        threads.slot = define("thread", false);
        threads.body = body_after(before, depth);
        return threads;
      }
    }
  }

  /// A block whose scope holds, from `before` on, a name that the header defined.
  Block body_after(std::size_t before, unsigned depth) {
    Block body;
    const std::uint32_t length = pick(4);
    for (std::uint32_t i = 0; i < length && next_ < choices_.size(); ++i) {
      Statement statement;
      statement.node = node(depth + 1, before);
      body.push_back(std::move(statement));
    }
    known_.resize(before);
    return body;
  }

  std::string block_text() {
    constexpr auto kTexts = std::to_array<std::string_view>({"cycle", "a b", "q\"\\", "é\n\t\r", "\x01\xff", "#{};"});
    return std::string(kTexts[pick(kTexts.size())]);
  }

  Access access() {
    Access access;
    access.kind = static_cast<AccessKind>(pick(4));
    const bool writes = access.kind == AccessKind::store || access.kind == AccessKind::atomic;
    const std::uint32_t arguments = 1 + pick(writes ? 4 : 3);
    access.address = expr(3);
    if (arguments > 1) access.length = expr(3);
    if (arguments > 2) access.stride = expr(2);
    if (arguments > 3) access.value = expr(2);
    if (access.kind != AccessKind::fetch && pick(4) == 1) access.text = expr(2);
    switch (pick(5)) {
      case 1:
        access.assertion = ExpectValue{number(0)};
        break;
      case 2:
        access.assertion = ExpectSignal{kSigSegv, std::nullopt};
        break;
      case 3:
        access.assertion = ExpectSignal{kSigSegv, flip() ? kSegvAccErr : kSegvPkuErr};
        break;
      case 4:
        access.assertion = ExpectSignal{kSigBus, kBusAdrErr};
        break;
      default:
        break;
    }
    return access;
  }

  SystemCall ioctl() {
    const auto requests = ioctl_requests();
    const IoctlRequest& request = requests[pick(requests.size())];
    SystemCall call;
    call.sys = Sys::ioctl;
    call.arguments.push_back(expr(2));
    call.arguments.push_back(make(NamedConstant{request.number, std::string(request.name)}));
    for (std::size_t i = 0; i < request.fields.size(); ++i) call.arguments.push_back(expr(2));
    return call;
  }

  SystemCall system_call() {
    SystemCall call;
    const SysSignature& signature = sys_signatures()[pick(sys_signatures().size())];
    call.sys = signature.sys;
    if (call.sys == Sys::ioctl) return ioctl();
    const std::size_t count = signature.least + pick(static_cast<std::size_t>(signature.most - signature.least + 1));
    for (std::size_t i = 0; i < count; ++i) {
      const bool text =
          ((call.sys == Sys::open || call.sys == Sys::memfd_create) && i == 0) || (call.sys == Sys::prctl && i == 4);
      call.arguments.push_back(text ? make(StringLiteral{block_text()}) : expr(3));
    }
    switch (pick(4)) {
      case 1:
        call.assertion = ExpectValue{expr(2)};
        break;
      case 2:
        call.assertion = ExpectErrno{flip() ? 12 : 22};
        break;
      case 3: {
        ExprPtr minus_one = make(Unary{UnaryOp::minus, number(1)});
        call.assertion = ExpectValue{std::move(minus_one)};
        break;
      }
      default:
        break;
    }
    if (flip()) {
      const std::string name = fresh_name();
      const Known* known = visible(name);
      if (known == nullptr || known->assignable) {
        call.result_name = name;
        call.result_slot = known != nullptr ? known->slot : define(name, true);
      }
    }
    return call;
  }

  Expect expectation() {
    Expect expect;
    expect.condition = expr(4);
    constexpr auto kPatterns =
        std::to_array<std::string_view>({"model", "live", "vm:6.12", "model:arm64/6.8+rmw=write-first", "live:>=6.2",
                                         "vm:arm64/<6.10", "model:x86-64/6.1", "model:arm64"});
    for (std::uint32_t i = pick(3); i > 0; --i) {
      std::string expected;
      expect.machines.push_back(*parse_machine_pattern(kPatterns[pick(kPatterns.size())], expected));
    }
    return expect;
  }

  static ExprPtr make(decltype(Expr::node) node) { return ExprPtr(new Expr{{}, std::move(node)}); }
  static ExprPtr number(std::uint64_t value) { return make(Number{value, ""}); }

  ExprPtr leaf() {
    switch (pick(4)) {
      case 1: {
        const auto all = constants();
        const Constant& constant = all[pick(all.size())];
        return make(NamedConstant{constant.value, std::string(constant.name)});
      }
      case 2: {
        if (known_.empty()) break;
        const Known& known = *visible(known_[pick(known_.size())].name);
        if (in_param_ && !known.param) break;
        return make(Variable{known.slot, known.name});
      }
      case 3:
        return make(Number{64 << 10, "64K"});
      default:
        break;
    }
    // Never zero: a literal divisor of zero is refused.
    const std::uint64_t value = std::uint64_t{pick(1U << 31U)} * pick(1U << 31U);
    return number(value == 0 ? 1 : value);
  }

  ExprPtr expr(unsigned depth) {
    if (depth == 0) return leaf();
    switch (pick(4)) {
      case 1: {
        const auto op = static_cast<UnaryOp>(pick(3));
        return make(Unary{op, expr(depth - 1)});
      }
      case 2: {
        const auto op = static_cast<BinaryOp>(pick(std::to_underlying(BinaryOp::logical_or) + std::size_t{1}));
        ExprPtr left = expr(depth - 1);
        return make(Binary{op, std::move(left), expr(depth - 1)});
      }
      case 3:
        if (in_param_) return leaf();
        return probe(depth - 1);
      default:
        return leaf();
    }
  }

  ExprPtr probe(unsigned depth) {
    Probe probe{};
    probe.kind = static_cast<ProbeKind>(pick(static_cast<std::size_t>(ProbeKind::count) + 1));
    std::size_t arguments = 0;
    switch (probe.kind) {
      case ProbeKind::vmas:
        arguments = flip() ? 2 : 0;
        break;
      case ProbeKind::resident:
      case ProbeKind::huge:
      case ProbeKind::state:
      case ProbeKind::soft_dirty:
      case ProbeKind::uffd_wp:
        arguments = 2;
        break;
      case ProbeKind::perm:
      case ProbeKind::value:
      case ProbeKind::pkey:
        arguments = 1;
        break;
      case ProbeKind::max_map_count:
        break;
      case ProbeKind::named:
        probe.arguments.push_back(expr(depth));
        probe.arguments.push_back(make(StringLiteral{"heap"}));
        break;
      case ProbeKind::vmflags:
        probe.arguments.push_back(expr(depth));
        probe.arguments.push_back(make(StringLiteral{"rd wr"}));
        break;
      case ProbeKind::faults:
      case ProbeKind::minflt:
      case ProbeKind::count:
        if (measures_.empty()) return leaf();
        probe.measure = measures_[pick(measures_.size())];
        if (probe.kind == ProbeKind::count) probe.counter = counter_name(static_cast<Counter>(pick(kCounters)));
        break;
    }
    for (std::size_t i = 0; i < arguments; ++i) probe.arguments.push_back(expr(depth));
    return make(std::move(probe));
  }

  std::span<const std::uint32_t> choices_;
  std::size_t next_ = 0;
  Program program_;
  std::vector<Known> known_;
  std::vector<std::string> measures_;
  std::vector<std::string> children_;
  bool in_param_ = false;
};

}  // namespace

Program random_program(const std::vector<std::uint32_t>& choices) { return Builder(choices).build(); }

}  // namespace faultline::program
