#pragma once

#include <expected>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "arch/arch.h"

namespace faultline::machine::vm {

/// The files for the plugin (plugin/symbols.h), from what the agent told of the kernel's functions.
struct FunctionFiles {
  std::string all;      // every function, with its name
  std::string entries;  // only where interrupts and exceptions begin
};
FunctionFiles function_files(std::string_view kallsyms, arch::Arch arch);

/// The names in a file of all functions, by line.
std::vector<std::string> function_names(std::string_view all);

}  // namespace faultline::machine::vm
