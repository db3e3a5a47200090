#pragma once

#include <string>
#include <string_view>

#include "export/c_parts.h"
#include "export/c_variables.h"
#include "program/program.h"

namespace faultline::exports {

/// Why C cannot tell an expression's value: "C does not see huge pages"; empty when it can.
std::string untellable(const program::Expr& expr);

/// Expressions as C of type uint64_t or int, with the parentheses that -Wall asks for. Notes the parts that they use.
class CExpressions {
 public:
  CExpressions(const CVariables& variables, const CMeasures& measures, CParts& parts)
      : variables_(variables), measures_(measures), parts_(parts) {}

  std::string text(const program::Expr& expr) const;
  /// As an operand of any operator.
  std::string operand(const program::Expr& expr) const;

 private:
  struct Writer;
  const CVariables& variables_;
  const CMeasures& measures_;
  CParts& parts_;
};

/// A string literal of C.
std::string c_string(std::string_view text);

}  // namespace faultline::exports
