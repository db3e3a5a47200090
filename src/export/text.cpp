#include "export/text.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "base/errno.h"
#include "base/flags.h"
#include "base/signal.h"
#include "export/relevance.h"
#include "export/spelling.h"
#include "program/print_expression.h"
#include "program/strace_statement.h"

namespace faultline::exports {
namespace {

using program::Spelling;
using program::Sys;

std::string hex(std::uint64_t value) { return program::spelled({value, Spelling::address}); }
std::string number(std::uint64_t value) { return program::spelled({value, Spelling::number}); }

class Writer {
 public:
  Writer(const TextInput& input, const std::vector<std::size_t>& kept, JoinAccesses join, Assert assert)
      : input_(input), events_(input.trace.events), join_(join), assert_(assert), included_(events_.size()) {
    for (const std::size_t i : kept) include(i);
    for (std::size_t i = 0; i < events_.size(); ++i) {
      if (events_[i].chosen) include(i);
    }
    include_forks();
  }

  SliceText text() {
    line("# " + input_.answers);
    for (std::size_t i = 0; i < events_.size(); ++i) {
      if (included_[i]) write(i);
    }
    close_measure();
    while (!open_.empty()) close_child();
    return std::move(result_);
  }

 private:
  /// With what sets up the file that it uses.
  void include(std::size_t i) {
    included_[i] = true;
    if (const auto maker = input_.descriptors.used_by(i)) files_.insert(*maker);
  }

  /// What happens in a child needs its fork; files are set up where they were.
  void include_forks() {
    std::set<std::uint32_t> processes;
    for (std::size_t i = events_.size(); i-- > 0;) {
      const Event& event = events_[i];
      const auto maker = input_.descriptors.set_up_of(i);
      if (maker && files_.contains(*maker)) included_[i] = true;
      if (event.kind == EventKind::fork && processes.contains(event.child)) included_[i] = true;
      if (included_[i]) processes.insert(event.process);
    }
  }

  void line(const std::string& text) {
    ++line_;
    result_.text += std::string(4 * (open_.size() + (measuring_ ? 1 : 0)), ' ') + text + "\n";
  }

  void write(std::size_t i) {
    const Event& event = events_[i];
    const std::uint32_t process = open_.empty() ? 0 : open_.back();
    if (measuring_ && (!event.chosen || event.process != process)) close_measure();
    while (!open_.empty() && open_.back() != event.process) close_child();
    if (event.kind == EventKind::fork) {
      run_.reset();
      line("child " + (event.name.empty() ? "{" : program::quote(event.name) + " {"));
      open_.push_back(event.child);
      return;
    }
    if (event.kind == EventKind::exit) return line("exit(" + program::quote(event.name) + ")");
    if (event.chosen && !measuring_) {
      run_.reset();
      line("measure " + program::quote(measure_name()) + " {");
      measuring_ = true;
    }
    if (!event.chosen && joined(event)) return;
    line(operation(i));
    remember(event);
    if (!event.chosen) return;
    result_.lines.push_back(line_);
    const Behaviour& behaviour = input_.trace.chosen[result_.lines.size() - 1];
    faults_ += behaviour.counted[Counter::minor_faults];
    last_ = &behaviour;
    last_ranges_ = ranges_of(event);
  }

  std::string measure_name() const { return measures_ == 0 ? "slice" : "slice " + std::to_string(measures_ + 1); }

  void close_measure() {
    if (!measuring_) return;
    measuring_ = false;
    line("}");
    if (assert_ == Assert::figures) {
      line("expect minflt(" + program::quote(measure_name()) + ") == " + number(faults_));
      if (last_ != nullptr && last_->vmas && !last_ranges_.empty()) {
        const Range range = last_ranges_.front();
        line("expect vmas(" + hex(moved(range.start.value)) + ", " + number(range.bytes()) +
             ") == " + number(*last_->vmas));
      }
    }
    ++measures_;
    faults_ = 0;
    last_ = nullptr;
    run_.reset();
  }

  void close_child() {
    open_.pop_back();
    run_.reset();
    line("}");
  }

  // Operations

  std::string operation(std::size_t i) {
    const Event& event = events_[i];
    if (const auto* access = std::get_if<program::Access>(&event.statement->node)) return access_text(event, *access);
    if (std::holds_alternative<program::PlaceCode>(event.statement->node)) {
      return "code(" + hex(moved(event.arguments[0])) + ")";
    }
    return call_text(i, std::get<program::SystemCall>(event.statement->node));
  }

  static std::string access_text(const Event& event, const program::Access& access) {
    constexpr std::string_view kNames[] = {"load", "store", "atomic", "fetch"};
    std::string text(kNames[std::to_underlying(access.kind)]);
    text += "(" + hex(moved(event.arguments[0]));
    const program::ExprPtr* given[] = {&access.length, &access.stride, &access.value};
    for (std::size_t i = 0; i < std::size(given) && *given[i] != nullptr; ++i)
      text += ", " + number(event.arguments[i + 1]);
    text += ")";
    if (access.text != nullptr) text += " at " + hex(moved(event.arguments[4]));
    if (!event.signal) return text + " = 0";
    text += " = " + std::string(signal_name(event.signal->number));
    const std::string_view code = signal_code_name(event.signal->number, event.signal->code);
    return code == "code?" ? text : text + " " + std::string(code);
  }

  std::string call_text(std::size_t i, const program::SystemCall& call) {
    Event event = events_[i];
    const bool places = call.sys == Sys::mmap || call.sys == Sys::mremap;
    if (places && !event.error) place(event, call.sys);
    const auto descriptor = descriptor_argument(event);
    std::string text(program::sys_name(call.sys));
    text += "(";
    for (std::size_t a = 0; a < event.arguments_count; ++a) {
      if (a > 0) text += ", ";
      const std::uint64_t value = event.arguments[a];
      const bool names_text =
          a < call.arguments.size() && std::holds_alternative<program::StringLiteral>(call.arguments[a]->node);
      if (names_text) {
        text += print(*call.arguments[a]);
      } else if (descriptor == a && input_.descriptors.used_by(i)) {
        text += variable(*input_.descriptors.used_by(i));
      } else {
        const Spelling how = spelling_of(call.sys, a);
        text += program::spelled({how == Spelling::address ? moved(value) : value, how});
      }
    }
    text += ")";
    if (event.error) return text + " = -1 " + std::string(errno_name(*event.error));
    const bool makes_file = call.sys == Sys::memfd_create || call.sys == Sys::open;
    if (makes_file) return variable(i) + " = " + text;
    const bool address = places || call.sys == Sys::brk;
    return text + " = " + (address ? hex(moved(event.value)) : number(event.value));
  }

  static std::string print(const program::Expr& expr) {
    std::string text;
    program::print_expression(expr, text);
    return text;
  }

  /// Where the kernel chose, the slice names the place.
  static void place(Event& event, Sys sys) {
    if (sys == Sys::mmap) {
      event.arguments[0] = event.value;
      auto flags = static_cast<MapFlags>(event.arguments[3]);
      if (!has(flags, MapFlags::fixed)) flags |= MapFlags::fixed_noreplace;
      event.arguments[3] = std::to_underlying(flags);
    } else if (event.value != event.arguments[0]) {
      constexpr std::uint64_t kMayMoveFixed = 3;
      event.arguments[3] |= kMayMoveFixed;
      event.arguments[4] = event.value;
      event.arguments_count = 5;
    }
  }

  std::string variable(std::size_t maker) {
    const auto [at, added] = variables_.try_emplace(maker, variables_.size() + 1);
    return "file" + std::to_string(at->second);
  }

  // Accesses to adjacent pages

  struct Run {
    AccessKind kind{};
    std::uint64_t address = 0;
    std::uint64_t pages = 0;
    std::size_t text_begin = 0;
  };

  static bool is_simple(const Event& event) {
    const auto* access = std::get_if<program::Access>(&event.statement->node);
    return access != nullptr && access->stride == nullptr && access->value == nullptr && access->text == nullptr &&
           !event.signal && event.arguments[1] <= kPageSize && access->kind != AccessKind::atomic &&
           Addr{event.arguments[0]}.page() == Addr{event.arguments[0] + event.arguments[1] - 1}.page();
  }

  void remember(const Event& event) {
    run_.reset();
    if (event.chosen || join_ == JoinAccesses::no || !is_simple(event)) return;
    const auto& access = std::get<program::Access>(event.statement->node);
    run_ = Run{access.kind, event.arguments[0], 1, result_.text.size()};
    run_->text_begin = result_.text.rfind('\n', result_.text.size() - 2) + 1;
  }

  bool joined(const Event& event) {
    if (!run_ || !is_simple(event)) return false;
    const auto& access = std::get<program::Access>(event.statement->node);
    const std::uint64_t page = Addr{event.arguments[0]}.page();
    const std::uint64_t next = Addr{run_->address}.page() + run_->pages;
    if (access.kind != run_->kind || page != next) return false;
    ++run_->pages;
    constexpr std::string_view kNames[] = {"load", "store", "atomic", "fetch"};
    result_.text.resize(run_->text_begin);
    --line_;
    line(std::string(kNames[std::to_underlying(access.kind)]) + "(" +
         hex(moved(Addr{run_->address}.page_floor().value)) + ", " + number(run_->pages * kPageSize) + ") = 0");
    return true;
  }

  const TextInput& input_;
  const std::vector<Event>& events_;
  JoinAccesses join_;
  Assert assert_;
  std::vector<bool> included_;
  std::set<std::size_t> files_;  // by the events that made them
  std::map<std::size_t, std::size_t> variables_;
  SliceText result_;
  std::uint32_t line_ = 0;
  std::vector<std::uint32_t> open_;  // children whose blocks are open
  bool measuring_ = false;
  std::size_t measures_ = 0;
  std::uint64_t faults_ = 0;
  const Behaviour* last_ = nullptr;
  std::vector<Range> last_ranges_;
  std::optional<Run> run_;
};

}  // namespace

SliceText slice_text(const TextInput& input, const std::vector<std::size_t>& kept, JoinAccesses join, Assert assert) {
  return Writer(input, kept, join, assert).text();
}

}  // namespace faultline::exports
