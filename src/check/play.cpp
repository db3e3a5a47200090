#include "check/play.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "machine/model_kernel.h"
#include "program/constants.h"

namespace faultline::check {
namespace {

using machine::ModelKernel;

constexpr std::string_view kArenaText = "0x200000000, 16 * PAGE";
static_assert(kArena.start.value == 0x200000000 && kArenaPages == 16);

class Player {
 public:
  Player(const mm::Profile& profile, Detail detail, const std::string& name)
      : system_(profile),
        kernel_(std::make_unique<mm::AddressSpace>(system_), machine::CheckInvariants::never, nullptr),
        detail_(detail),
        name_(name) {}

  std::string play(const Case& played) {
    text_ = "child {\n";
    for (const Operation& operation : played) perform(operation);
    return text_ + "}\n";
  }

 private:
  void perform(const Operation& operation) {
    switch (operation.kind) {
      case OperationKind::call:
        text_ += fmt::format("    {} = {}\n", text_of(operation), result(kernel_, operation));
        break;
      case OperationKind::access:
        text_ += fmt::format("    {} = {}\n", text_of(operation), outcome(kernel_, operation));
        break;
      case OperationKind::fork:
        fork(operation);
        break;
      case OperationKind::exit:
        // Shrinking may have taken its fork away.
        if (living_.erase(operation.child) == 0) return;
        kernel_.exit_child(operation.child);
        text_ += fmt::format("    exit(\"{}{}\")\n", name_, operation.child);
        break;
    }
    expect_state();
  }

  static std::string result(ModelKernel& kernel, const Operation& operation) {
    run::CallRequest request{operation.sys, {}, static_cast<std::uint32_t>(operation.arguments.size())};
    std::ranges::transform(operation.arguments, request.arguments.begin(), &Argument::value);
    const run::CallOutcome outcome = kernel.call(request);
    if (outcome.error) return fmt::format("-1 {}", errno_name(*outcome.error));
    return fmt::format("{:#x}", outcome.value);
  }

  static std::string outcome(ModelKernel& kernel, const Operation& operation) {
    const run::AccessRequest request{operation.access, Addr{operation.arguments.front().value}, 1, kPageSize, 1, {}};
    const auto signal = kernel.access(request).signal;
    if (!signal) return "0";
    return fmt::format("{} {}", signal_name(signal->number), signal_code_name(signal->number, signal->code));
  }

  void fork(const Operation& operation) {
    const std::string block = operation.child.empty() ? "child" : fmt::format("child \"{}{}\"", name_, operation.child);
    text_ += fmt::format("    {} {{\n", block);
    if (!operation.child.empty()) living_.insert(operation.child);
    kernel_.child(operation.child, [&](ModelKernel& child) {
      for (const Operation& first : operation.body) {
        text_ += fmt::format("        {} = {}\n", text_of(first), outcome(child, first));
      }
    });
    text_ += "    }\n";
  }

  void expect_state() {
    if (detail_ == Detail::readable) {
      text_ += fmt::format("    expect vmas({}) == {}\n", kArenaText, *kernel_.vmas(kArena));
      text_ += fmt::format("    expect resident({}) == {}\n", kArenaText, *kernel_.resident(kArena));
      for (Addr page = kArena.start; page < kArena.end; page = page + kPageSize) {
        const std::uint64_t prot = *kernel_.perm(page);
        if (prot == program::kUnmapped) continue;
        text_ +=
            fmt::format("    expect perm({0:#x}) == {1} && resident({0:#x}, PAGE) == {2} && value({0:#x}) == {3}\n",
                        page.value, prot, *kernel_.resident(Range::of(page, kPageSize)), *kernel_.value(page));
      }
    }
    text_ += fmt::format("    expect state({}) == {:#x}\n", kArenaText, *kernel_.state(kArena));
  }

  mm::System system_;
  ModelKernel kernel_;
  Detail detail_;
  std::string name_;
  std::set<std::string> living_;
  std::string text_;
};

}  // namespace

std::string play(const Case& played, const mm::Profile& profile, Detail detail, const std::string& name) {
  return Player(profile, detail, name).play(played);
}

}  // namespace faultline::check
