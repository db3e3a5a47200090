#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>

#include "program/printer.h"
#include "program/strace.h"

namespace faultline::program::test {

/// The import of a log that has to succeed; has one process at least.
inline StraceImport imported(std::string_view log) {
  auto import = import_strace(log, "test.log");
  if (import) return std::move(*import);
  ADD_FAILURE() << render(import.error());
  StraceImport none;
  none.processes.emplace_back();
  return none;
}

/// The statements of a process, without the comment that names it.
inline std::string text_of(const StraceProcess& process) {
  const std::string text = print(process.program);
  return text.substr(text.starts_with('#') ? text.find('\n') + 1 : 0);
}

}  // namespace faultline::program::test
