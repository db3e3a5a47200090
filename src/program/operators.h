#pragma once

#include <string_view>

#include "program/program.h"
#include "program/token.h"

namespace faultline::program {

/// A binary operator: how it is written and how strongly it binds, higher binding stronger. All bind to the left;
/// order and strength are those of C.
struct BinaryOperator {
  BinaryOp op{};
  TokenKind token{};
  std::string_view text;
  unsigned precedence = 0;
};

/// Null when the token is no binary operator.
const BinaryOperator* binary_operator(TokenKind token);
const BinaryOperator& binary_operator(BinaryOp op);
std::string_view unary_text(UnaryOp op);

}  // namespace faultline::program
