#include "check/operation.h"

#include <fmt/format.h>

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

}  // namespace

std::string text_of(const Operation& operation) {
  switch (operation.kind) {
    case OperationKind::call: {
      std::string arguments;
      for (const Argument& argument : operation.arguments) {
        if (!arguments.empty()) arguments += ", ";
        arguments += argument.text;
      }
      return fmt::format("{}({})", program::sys_name(operation.sys), arguments);
    }
    case OperationKind::access:
      return fmt::format("{}({})", access_name(operation.access), operation.arguments.front().text);
    case OperationKind::fork:
      return operation.child.empty() ? "child" : fmt::format("child \"{}\"", operation.child);
    case OperationKind::exit:
      return fmt::format("exit(\"{}\")", operation.child);
  }
  return "";
}

}  // namespace faultline::check
