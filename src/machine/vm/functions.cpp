#include "machine/vm/functions.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace faultline::machine::vm {
namespace {

struct Function {
  std::uint64_t address = 0;
  char kind = 'f';
  std::string_view name;
};

template <class Visit>
void each_line(std::string_view text, Visit visit) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    visit(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

/// x86-64: arch/x86/include/asm/idtentry.h names the gates of interrupts and of exceptions; arch/x86/kernel/apic/ipi.c
/// sends.
char x86_kind(std::string_view name) {
  if (name.starts_with("asm_sysvec_") || name == "asm_common_interrupt") return 'i';
  if (name == "asm_exc_page_fault") return 'p';
  if (name == "native_send_call_func_ipi" || name == "native_send_call_func_single_ipi") return 's';
  return name.starts_with("asm_exc_") ? 'e' : 'f';
}

/// arm64: sixteen vectors of 128 bytes each; in each group of four, synchronous exceptions, interrupts, fast
/// interrupts, and errors.
void add_vectors(std::vector<Function>& functions, std::uint64_t base) {
  constexpr std::uint64_t kVectorBytes = 0x80;
  constexpr std::string_view kKinds = "eiie";
  for (std::uint64_t i = 0; i < 16; ++i) {
    functions.push_back({base + i * kVectorBytes, kKinds[i % kKinds.size()], "vectors"});
  }
}

}  // namespace

FunctionFiles function_files(std::string_view kallsyms, arch::Arch arch) {
  std::vector<Function> functions;
  each_line(kallsyms, [&](std::string_view line) {
    Function function;
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), function.address, 16);
    const std::size_t rest = static_cast<std::size_t>(end - line.data()) + 3;
    if (error != std::errc{} || rest >= line.size() || function.address >> 63 == 0) return;
    function.name = line.substr(rest);
    function.name = function.name.substr(0, function.name.find_first_of(" \t"));
    if (arch == arch::Arch::arm64 && function.name == "vectors") return add_vectors(functions, function.address);
    // arm64: data and instruction aborts, which are not told apart where they enter.
    function.kind = arch == arch::Arch::x86_64 ? x86_kind(function.name) : function.name == "do_mem_abort" ? 'h' : 'f';
    functions.push_back(function);
  });
  // Of several names of one place the one that says most: an entry, else the first.
  std::ranges::stable_sort(functions, {}, [](const Function& f) { return std::pair(f.address, f.kind == 'f'); });
  const auto [again, end] = std::ranges::unique(functions, {}, &Function::address);
  functions.erase(again, end);
  FunctionFiles files;
  for (const Function& function : functions) {
    files.all += fmt::format("{:x} {} {}\n", function.address, function.kind, function.name);
    if (function.kind != 'f')
      files.entries += fmt::format("{:x} {} {}\n", function.address, function.kind, function.name);
  }
  return files;
}

std::vector<std::string> function_names(std::string_view all) {
  std::vector<std::string> names;
  each_line(all, [&](std::string_view line) { names.emplace_back(line.substr(line.rfind(' ') + 1)); });
  return names;
}

}  // namespace faultline::machine::vm
