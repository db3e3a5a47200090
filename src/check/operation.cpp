#include "check/operation.h"

#include <fmt/format.h>

#include <algorithm>

#include "program/ioctl.h"

namespace faultline::check {
namespace {

std::string_view access_name(AccessKind kind) {
  switch (kind) {
    case AccessKind::load:
      return "load";
    case AccessKind::store:
      return "store";
    case AccessKind::atomic:
      return "atomic";
    case AccessKind::fetch:
      return "fetch";
  }
  return "";
}

/// Addresses are hexadecimal; what is a small number of whole pages is a length.
std::string number_text(std::uint64_t value) {
  if (value < 16) return std::to_string(value);
  if (value >= kArenaStart.value || value % kPageSize != 0) return fmt::format("{:#x}", value);
  return value == kPageSize ? "PAGE" : fmt::format("{} * PAGE", value / kPageSize);
}

std::string argument_text(const Operation& operation, std::size_t index) {
  const std::string_view name = operation.names[index];
  return name.empty() ? number_text(operation.step.arguments[index]) : std::string(name);
}

std::string ioctl_text(const Operation& operation) {
  const auto request = program::ioctl_numbered(operation.step.arguments[1]);
  std::vector<std::string> values;
  for (std::size_t i = 2; i < operation.step.count; ++i) values.push_back(argument_text(operation, i));
  if (!request || values.size() != request->fields.size()) return "ioctl()";
  return fmt::format("ioctl({}, {}, {})", argument_text(operation, 0), request->name,
                     program::ioctl_struct(*request, values));
}

}  // namespace

run::Case case_of(const Drawn& drawn) {
  run::Case one{drawn.watched, {}};
  one.steps.reserve(drawn.operations.size());
  for (const Operation& operation : drawn.operations) one.steps.push_back(operation.step);
  return one;
}

Drawn without(const Drawn& drawn, std::size_t first, std::size_t last) {
  Drawn fewer{drawn.watched, {}, drawn.needed};
  for (std::size_t i = 0; i < drawn.operations.size(); ++i) {
    if (i >= first && i < last) continue;
    Operation kept = drawn.operations[i];
    if (kept.step.kind == run::StepKind::fork) {
      const std::size_t begin = i + 1;
      const std::size_t end = begin + kept.step.body;
      const std::size_t taken = std::min(end, last) - std::min(std::max(begin, first), std::min(end, last));
      kept.step.body -= static_cast<std::uint32_t>(taken);
    }
    fewer.operations.push_back(kept);
  }
  return fewer;
}

std::string text_of(const Operation& operation) {
  const run::CaseStep& step = operation.step;
  switch (step.kind) {
    case run::StepKind::call: {
      if (step.sys == program::Sys::ioctl) return ioctl_text(operation);
      std::string arguments;
      for (std::size_t i = 0; i < step.count; ++i) {
        if (i > 0) arguments += ", ";
        arguments += argument_text(operation, i);
      }
      return fmt::format("{}({})", program::sys_name(step.sys), arguments);
    }
    case run::StepKind::access: {
      const std::string address = argument_text(operation, 0);
      const bool writes = step.access == AccessKind::store || step.access == AccessKind::atomic;
      if (!writes || step.arguments[1] == 1) return fmt::format("{}({})", access_name(step.access), address);
      const unsigned length = step.access == AccessKind::atomic ? 8 : 1;
      return fmt::format("{}({}, {}, {}, {})", access_name(step.access), address, length, length, step.arguments[1]);
    }
    case run::StepKind::place_code:
      return fmt::format("code({})", argument_text(operation, 0));
    case run::StepKind::fork:
      return step.child == 0 ? "child" : fmt::format("child \"c{}\"", step.child);
    case run::StepKind::exit:
      return fmt::format("exit(\"c{}\")", step.child);
    case run::StepKind::fill:
      return fmt::format(
          "for i in 0..max_map_count() - vmas() - {} {{ mmap({:#x} + i * 2 * PAGE, PAGE, PROT_NONE, "
          "MAP_PRIVATE|MAP_ANONYMOUS|MAP_FIXED, -1, 0) }}",
          step.arguments[1], step.arguments[0]);
  }
  return "";
}

}  // namespace faultline::check
