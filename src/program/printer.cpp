#include "program/printer.h"

#include <type_traits>
#include <utility>
#include <vector>

#include "base/errno.h"
#include "base/signal.h"
#include "program/equal.h"
#include "program/ioctl.h"
#include "program/print_expression.h"

namespace faultline::program {
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

class Printer {
 public:
  void program(const Program& program) {
    if (!program.answers.empty()) out_ += "# " + program.answers + "\n";
    block(program.body);
  }
  void title(const Statement& statement) {
    std::visit([this](const auto& node) { print(node); }, statement.node);
  }
  std::string take() { return std::move(out_); }

 private:
  void block(const Block& block) {
    for (const Statement& statement : block) {
      out_.append(4 * depth_, ' ');
      title(statement);
      if (const Block* body = body_of(statement)) {
        out_ += " {\n";
        ++depth_;
        this->block(*body);
        --depth_;
        out_.append(4 * depth_, ' ');
        out_ += '}';
      }
      out_ += '\n';
    }
  }

  static const Block* body_of(const Statement& statement) {
    return std::visit(
        [](const auto& node) -> const Block* {
          if constexpr (requires { node.body; }) {
            return &node.body;
          } else {
            return nullptr;
          }
        },
        statement.node);
  }

  void expr(const ExprPtr& expr) { print_expression(*expr, out_); }

  void assertion(const ResultAssertion& assertion) {
    out_ += " = ";
    if (const auto* value = std::get_if<ExpectValue>(&assertion)) {
      // A bare -1 announces an error name.
      const bool parens = is_minus_one(*value->value);
      if (parens) out_ += '(';
      expr(value->value);
      if (parens) out_ += ')';
    } else if (const auto* error = std::get_if<ExpectErrno>(&assertion)) {
      out_ += "-1 ";
      out_ += errno_name(Errno{error->error});
    } else {
      const auto& signal = std::get<ExpectSignal>(assertion);
      out_ += signal_name(signal.number);
      if (signal.code) {
        out_ += ' ';
        out_ += signal_code_name(signal.number, *signal.code);
      }
    }
  }

  void print(const Param& param) {
    out_ += "param " + param.name + " = ";
    expr(param.value);
  }
  void print(const Let& let) {
    out_ += (let.rebinds ? "" : "let ") + let.name + " = ";
    expr(let.value);
  }
  void print(const SystemCall& call) {
    if (call.result_slot) out_ += call.result_name + " = ";
    out_ += sys_name(call.sys);
    if (call.sys == Sys::ioctl) {
      print_ioctl(call.arguments);
    } else {
      print_arguments(call.arguments, out_);
    }
    if (call.assertion) assertion(*call.assertion);
  }
  /// (fd, REQUEST, {range={start=…, len=…}, mode=…})
  void print_ioctl(const std::vector<ExprPtr>& arguments) {
    const auto* name = std::get_if<NamedConstant>(&arguments[1]->node);
    const auto request = name == nullptr ? std::nullopt : ioctl_named(name->name);
    if (!request || arguments.size() != request->fields.size() + 2) return print_arguments(arguments, out_);
    std::vector<std::string> values(request->fields.size());
    for (std::size_t i = 0; i < values.size(); ++i) print_expression(*arguments[i + 2], values[i]);
    out_ += '(';
    expr(arguments[0]);
    out_ += ", " + name->name + ", " + ioctl_struct(*request, values) + ")";
  }
  void print(const Access& access) {
    out_ += access_name(access.kind);
    out_ += '(';
    expr(access.address);
    for (const ExprPtr* argument : {&access.length, &access.stride, &access.value}) {
      if (!*argument) break;
      out_ += ", ";
      expr(*argument);
    }
    out_ += ')';
    if (access.text) {
      out_ += " at ";
      expr(access.text);
    }
    if (access.assertion) assertion(*access.assertion);
  }
  void print(const PlaceCode& code) {
    out_ += "code(";
    expr(code.address);
    out_ += ')';
  }
  void print(const Repeat& repeat) {
    out_ += "repeat ";
    expr(repeat.count);
  }
  void print(const For& loop) {
    out_ += "for " + loop.name + " in ";
    expr(loop.first);
    out_ += "..";
    expr(loop.limit);
  }
  void print(const Measure& measure) {
    out_ += "measure " + quote(measure.name);
    if (measure.count) {
      out_ += " repeat ";
      expr(measure.count);
    }
  }
  void print(const Child& child) { out_ += child.name.empty() ? "child" : "child " + quote(child.name); }
  void print(const ExitChild& exit) { out_ += "exit(" + quote(exit.name) + ")"; }
  void print(const Threads& threads) {
    out_ += "threads ";
    expr(threads.count);
  }
  void print(const Expect& expect) {
    out_ += "expect ";
    expr(expect.condition);
    for (std::size_t i = 0; i < expect.machines.size(); ++i) {
      out_ += (i == 0 ? " on " : ", ") + expect.machines[i].text();
    }
  }

  std::string out_;
  std::size_t depth_ = 0;
};

}  // namespace

std::string print(const Program& program) {
  Printer printer;
  printer.program(program);
  return printer.take();
}

std::string print_title(const Statement& statement) {
  Printer printer;
  printer.title(statement);
  return printer.take();
}

std::string print(const Expr& expr) {
  std::string text;
  print_expression(expr, text);
  return text;
}

}  // namespace faultline::program
