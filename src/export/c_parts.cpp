#include "export/c_parts.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

#include "c_text.h"
#include "program/constants.h"

namespace faultline::exports {
namespace {

/// C's words, and the names of the parts below and of macros in the headers that they include.
constexpr std::string_view kReserved =
    " alignas alignof asm auto bool break case char const constexpr continue default do double else enum"
    " extern false float for goto if inline int long nullptr register restrict return short signed sizeof"
    " static static_assert struct switch thread_local true typedef typeof typeof_unqual union unsigned"
    " void volatile while errno linux unix stdin stdout stderr assert major minor alloca offsetof sigmask"
    " sa_handler sa_sigaction si_addr si_code si_pid si_value st_atime st_ctime st_mtime main program"
    " operations measures shared rows call CALL touch touch_at load store atomic fetch place_code mappings"
    " all_mappings resident huge protection byte_at max_map_count kernel_compare shift_left shift_right"
    " divisor faults_of exceptions_of expect expect_value expect_result expect_error expect_signal"
    " no_signal not_checked start_child end_child exit_child run_threads repeated repetition end argument"
    " mine fail finish begin own count caught syscall exit thread_number thread_count arguments n ";

void append_constant(std::string& out, std::string_view name) {
  const auto value = program::constant_named(name);
  if (!value) return;
  std::array<char, 24> digits{};
  std::snprintf(digits.data(), digits.size(), "0x%llx", static_cast<unsigned long long>(*value));
  out += "#ifndef " + std::string(name) + "\n#define " + std::string(name) + " " + digits.data() + "\n#endif\n";
}

}  // namespace

bool is_reserved_in_c(std::string_view name) {
  const bool known = kReserved.find(" " + std::string(name) + " ") != std::string_view::npos;
  const bool shouts = std::ranges::none_of(name, [](char c) { return c >= 'a' && c <= 'z'; });
  return known || shouts || name.starts_with('_') || name.starts_with("thread_");
}

std::string c_declarations(const CParts& parts) {
  std::string out(c_text::kIncludes);
  for (const std::string& name : parts.constants) append_constant(out, name);
  out += c_text::kFigures;
  return out;
}

std::string c_definitions(const CParts& parts) {
  constexpr std::pair<CPart, std::string_view> kTexts[] = {
      {CPart::results, c_text::kResults},
      {CPart::expectations, c_text::kExpectations},
      {CPart::repetitions, c_text::kRepetitions},
      {CPart::unchecked, c_text::kUnchecked},
      {CPart::access, c_text::kAccess},
      {CPart::fetch, c_text::kFetch},
      {CPart::code, c_text::kCode},
      {CPart::children, c_text::kChildren},
      {CPart::threads, c_text::kThreads},
      {CPart::pages, c_text::kPages},
      {CPart::protection, c_text::kProtection},
      {CPart::map_limit, c_text::kMapLimit},
      {CPart::huge, c_text::kHuge},
      {CPart::version, c_text::kVersion},
      {CPart::shift, c_text::kShift},
      {CPart::divide, c_text::kDivide},
  };
  std::string out(c_text::kPrinting);
  out += c_text::kCore;
  for (const auto& [part, text] : kTexts) {
    if (parts.has(part)) out += text;
  }
  out += c_text::kBegin;
  if (parts.has(CPart::no_huge_pages)) out += "  prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);\n";
  if (parts.has(CPart::access)) out += "  handle_signals();\n";
  out += "  settle();\n}\n";
  return out;
}

}  // namespace faultline::exports
