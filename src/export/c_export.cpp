#include "export/c_export.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/errno.h"
#include "base/page.h"
#include "base/signal.h"
#include "export/c_expression.h"
#include "export/c_parts.h"
#include "export/c_tables.h"
#include "export/c_variables.h"
#include "program/printer.h"

namespace faultline::exports {

using namespace program;  // whose tree it walks

namespace {

std::string title(const Statement& statement) {
  return statement.text.empty() ? print_title(statement) : statement.text;
}

std::string_view sys_number(Sys sys) {
  // arm64 has no open(2).
  return sys == Sys::open ? "openat" : sys_name(sys);
}

bool speaks_of_huge_pages(const Statement& statement) {
  for (const std::string_view word : {"HUGE", "huge", "MADV_COLLAPSE"}) {
    if (title(statement).find(word) != std::string::npos) return true;
  }
  return std::visit(
      [](const auto& node) {
        if constexpr (requires { node.body; }) return std::ranges::any_of(node.body, speaks_of_huge_pages);
        return false;
      },
      statement.node);
}

class CExporter {
 public:
  CExporter(const Program& program, const CExport& options)
      : program_(program),
        options_(options),
        tables_(options),
        variables_(program),
        expressions_(variables_, measures_, parts_) {}

  std::string text() {
    number_measures(program_.body, -1);
    if (std::ranges::none_of(program_.body, speaks_of_huge_pages)) parts_.use(CPart::no_huge_pages);
    block(program_.body);
    return tables_.heading(program_.answers) + c_declarations(parts_) + tables_.text() + c_definitions(parts_) +
           threads_ + "\nstatic void program(void) {\n" + out_ +
           "}\n\nint main(void) {\n  begin();\n  program();\n  return finish();\n}\n";
  }

  const std::optional<Error>& error() const { return error_; }

 private:
  void number_measures(const Block& block, int outer) {
    for (const Statement& statement : block) {
      int inner = outer;
      if (const auto* measure = std::get_if<Measure>(&statement.node)) {
        inner = tables_.add_measure(measure->name, outer);
        measures_.emplace(measure->name, inner);
        numbers_[measure] = inner;
      }
      std::visit(
          [&](const auto& node) {
            if constexpr (requires { node.body; }) number_measures(node.body, inner);
          },
          statement.node);
    }
  }

  /// A row of the table of operations; its number.
  std::string row(const Statement& statement) {
    return std::to_string(tables_.add_operation(statement.position.line, measure_, title(statement)));
  }

  // Statements

  void line(const std::string& text) { out_ += std::string(depth_ * 2, ' ') + text + "\n"; }

  void block(const Block& block) {
    ++depth_;
    for (const Statement& statement : block) {
      position_ = statement.position;
      std::visit([&](const auto& node) { write(statement, node); }, statement.node);
    }
    --depth_;
  }

  std::string text(const Expr& expr) {
    const std::string why = untellable(expr);
    if (why.empty()) return expressions_.text(expr);
    if (!error_) error_ = Error{program_.name, position_, why + ", and has to know it here", ""};
    return "0ul";
  }
  std::string text_or(const ExprPtr& expr, const char* otherwise) { return expr == nullptr ? otherwise : text(*expr); }

  /// "uint64_t a" where it is seen first, "a" from there on.
  std::string bound(Slot slot) {
    const bool first = declared_.insert(slot.index).second;
    return (first ? "uint64_t " : "") + variables_.name(slot);
  }

  void write(const Statement&, const Param& param) {
    if (!variables_.is_read(param.slot)) return;
    const auto set = std::ranges::find(options_.params, param.name, &std::pair<std::string, std::uint64_t>::first);
    const std::string value = set == options_.params.end() ? text(*param.value) : std::to_string(set->second) + "ul";
    line(bound(param.slot) + " = " + value + ";");
  }

  void write(const Statement&, const Let& let) {
    if (!variables_.is_read(let.slot)) return;
    const std::string value = text(*let.value);
    line(bound(let.slot) + " = " + value + ";");
  }

  void write(const Statement& statement, const SystemCall& call) {
    // Nobody would answer the faults of a userfaultfd there; clear_refs and the rights to keys are no system calls.
    const bool is_none = call.sys == Sys::clear_refs || call.sys == Sys::pkey_set || call.sys == Sys::pkey_get;
    if (call.sys == Sys::ioctl || call.sys == Sys::userfaultfd || is_none) {
      if (!error_)
        error_ = Error{program_.name, position_, std::string(sys_name(call.sys)) + " is not exported as C", ""};
      return;
    }
    std::string arguments = call.sys == Sys::open ? "(uint64_t)AT_FDCWD" : "";
    for (const ExprPtr& argument : call.arguments) arguments += (arguments.empty() ? "" : ", ") + text(*argument);
    if (arguments.empty()) arguments = "0";
    const std::string number = row(statement);
    std::string made = "CALL(" + number + ", SYS_" + std::string(sys_number(call.sys)) + ", " + arguments + ")";
    if (call.result_slot && variables_.is_read(*call.result_slot)) {
      line(bound(*call.result_slot) + " = " + made + ";");
      made = variables_.name(*call.result_slot);
    } else if (!call.assertion) {
      line(made + ";");
    }
    if (!call.assertion) return;
    parts_.use(CPart::results);
    if (const auto* value = std::get_if<ExpectValue>(&*call.assertion)) {
      line("expect_result(" + number + ", " + made + ", " + text(*value->value) + ");");
    } else if (const auto* error = std::get_if<ExpectErrno>(&*call.assertion)) {
      const std::string name(errno_name(Errno{error->error}));
      parts_.constants.insert(name);
      line("expect_error(" + number + ", " + made + ", " + name + ");");
    }
  }

  void write(const Statement& statement, const Access& access) {
    parts_.use(CPart::access);
    const std::string address = text(*access.address);
    const std::string length = text_or(access.length, "1ul");
    const std::string stride = text_or(access.stride, "PAGE");
    const std::string value = text_or(access.value, "1ul");
    const std::string number = row(statement);
    if (access.kind == AccessKind::fetch) {
      parts_.use(CPart::fetch);
      line("fetch(" + number + ", " + address + ", " + length + ", " + stride + ");");
    } else {
      line("touch(" + number + ", " + routine(access) + ", " + address + ", " + length + ", " + stride + ", " + value +
           ");");
    }
    assert_signal(number, access.assertion);
  }

  std::string routine(const Access& access) {
    const bool loads = access.kind == AccessKind::load;
    const bool stores = access.kind == AccessKind::store;
    if (access.text == nullptr) return loads ? "load" : stores ? "store" : "atomic";
    parts_.use(CPart::code);
    return "ROUTINE(" + text(*access.text) + ", " + (loads ? "16" : stores ? "32" : "48") + ")";
  }

  void assert_signal(const std::string& number, const std::optional<ResultAssertion>& assertion) {
    if (!assertion) return line("no_signal(" + number + ");");
    const auto* signal = std::get_if<ExpectSignal>(&*assertion);
    const std::string name = signal == nullptr ? "0" : std::string(signal_name(signal->number));
    std::string code = "-1";
    if (signal != nullptr && signal->code) code = std::string(signal_code_name(signal->number, *signal->code));
    line("expect_signal(" + number + ", " + name + ", " + code + ");");
  }

  void write(const Statement& statement, const PlaceCode& code) {
    parts_.use(CPart::access);
    parts_.use(CPart::code);
    const std::string number = row(statement);
    line("touch(" + number + ", copy_routines, " + text(*code.address) + ", 1ul, PAGE, 0);");
    line("no_signal(" + number + ");");
  }

  void write(const Statement&, const Repeat& repeat) { repeated(text(*repeat.count), repeat.body, ""); }

  void write(const Statement&, const Measure& measure) {
    const int around = std::exchange(measure_, numbers_.at(&measure));
    repeated(text_or(measure.count, "1ul"), measure.body,
             "add(&shared->measures[" + std::to_string(measure_) + "].calls, 1);");
    measure_ = around;
  }

  void repeated(const std::string& count, const Block& body, const std::string& at_end) {
    const bool once = count == "1ul";
    line(once ? "{" : "for (uint64_t repetition = " + count + "; repetition > 0; --repetition) {");
    block(body);
    if (!at_end.empty()) line("  " + at_end);
    line("}");
  }

  void write(const Statement&, const For& loop) {
    const std::string& name = variables_.name(loop.slot);
    declared_.insert(loop.slot.index);
    line("for (uint64_t " + name + " = " + text(*loop.first) + ", end = " + text(*loop.limit) + "; " + name +
         " < end; ++" + name + ") {");
    block(loop.body);
    line("}");
  }

  void write(const Statement&, const Child& child) {
    parts_.use(CPart::children);
    const std::string name = child.name.empty() ? "NULL" : c_string(child.name);
    line("if (start_child(" + name + ")) {");
    block(child.body);
    line("  end_child(" + name + ");");
    line("}");
  }

  void write(const Statement&, const ExitChild& exit) {
    parts_.use(CPart::children);
    line("exit_child(" + c_string(exit.name) + ");");
  }

  /// Each thread has copies of the variables, and a function of its own.
  void write(const Statement&, const Threads& threads) {
    parts_.use(CPart::threads);
    const std::string function = "thread_" + std::to_string(++thread_functions_);
    std::string fields = "  uint64_t thread_number;\n";
    std::string locals;
    std::string values = ".thread_number = n";
    for (const Slot slot : variables_.mentioned(threads.body)) {
      if (!declared_.contains(slot.index) || slot.index == threads.slot.index) continue;
      const std::string& name = variables_.name(slot);
      fields.append("  uint64_t ").append(name).append(";\n");
      locals.append("  uint64_t ").append(name).append(" = mine->").append(name).append(";\n");
      locals.append("  (void)").append(name).append(";\n");
      values.append(", .").append(name).append(" = ").append(name);
    }
    const std::string count = text(*threads.count);
    std::string outer = std::exchange(out_, "");
    const std::size_t depth = std::exchange(depth_, 0);
    const bool reads = variables_.is_read(threads.slot);
    if (reads) locals += "  uint64_t " + variables_.name(threads.slot) + " = mine->thread_number;\n";
    declared_.insert(threads.slot.index);
    block(threads.body);
    std::string body = std::exchange(out_, std::move(outer));
    depth_ = depth;
    threads_ += "\nstruct " + function + " {\n" + fields + "};\nstatic void *" + function +
                "(void *argument) {\n  const struct " + function + " *mine = argument;\n  (void)mine;\n" + locals +
                "  settle();\n" + body + "  return NULL;\n}\n";
    line("{");
    line("  uint64_t thread_count = " + count + ";");
    line("  struct " + function + " *arguments = calloc(thread_count + 1, sizeof *arguments);");
    line("  if (arguments == NULL) give_up(\"calloc\");");
    line("  for (uint64_t n = 0; n < thread_count; ++n) arguments[n] = (struct " + function + "){" + values + "};");
    line("  run_threads(" + function + ", (char *)arguments, sizeof *arguments, thread_count);");
    line("  free(arguments);");
    line("}");
  }

  void write(const Statement& statement, const Expect& expect) {
    if (!concerns_live(expect)) return;
    const std::string place = std::to_string(statement.position.line) + ", " + c_string(title(statement));
    const std::string condition = this->condition(expect);
    const std::string around = condition.empty() ? "" : "if (" + condition + ") ";
    if (const std::string why = untellable(*expect.condition); !why.empty()) {
      parts_.use(CPart::unchecked);
      line(around + "not_checked(" + place + ", " + c_string(why) + ");");
      return;
    }
    parts_.use(CPart::expectations);
    const auto* compared = std::get_if<Binary>(&expect.condition->node);
    if (compared != nullptr && compared->op == BinaryOp::equal) {
      line(around + "expect_value(" + place + ", " + text(*compared->left) + ", " + text(*compared->right) + ");");
    } else {
      line(around + "expect(" + place + ", (" + text(*expect.condition) + ") != 0);");
    }
  }

  /// Which kernels it is about; empty: all.
  std::string condition(const Expect& expect) {
    std::string text;
    for (const MachinePattern& pattern : expect.machines) {
      if (pattern.kind != "live" || !pattern.policies.empty()) continue;
      std::string one = pattern.arch ? (*pattern.arch == "arm64" ? "ARM64" : "!ARM64") : "";
      if (pattern.relation != MachinePattern::Relation::any) {
        parts_.use(CPart::version);
        const std::string relation = pattern.relation == MachinePattern::Relation::exactly    ? " == 0"
                                     : pattern.relation == MachinePattern::Relation::at_least ? " >= 0"
                                                                                              : " < 0";
        one += (one.empty() ? "" : " && ") + ("kernel_compare(" + c_string(pattern.version) + ")" + relation);
      }
      if (one.empty()) return {};
      text += (text.empty() ? "(" : " || (") + one + ")";
    }
    return text;
  }

  const Program& program_;
  const CExport& options_;
  CTables tables_;
  CVariables variables_;
  CMeasures measures_;
  CParts parts_;
  CExpressions expressions_;
  std::map<const Measure*, int> numbers_;
  std::set<std::uint32_t> declared_;
  std::string threads_;
  std::string out_;
  std::size_t depth_ = 0;
  int measure_ = -1;
  unsigned thread_functions_ = 0;
  Position position_;
  std::optional<Error> error_;  // the first
};

}  // namespace

std::expected<std::string, Error> export_c(const Program& program, const CExport& options) {
  CExporter exporter(program, options);
  std::string text = exporter.text();
  if (exporter.error()) return std::unexpected(*exporter.error());
  return text;
}

}  // namespace faultline::exports
