#include <algorithm>
#include <array>
#include <utility>

#include "base/errno.h"
#include "base/signal.h"
#include "program/constants.h"
#include "program/equal.h"
#include "program/nearest.h"
#include "program/parse_state.h"

namespace faultline::program {
namespace {

struct AccessName {
  AccessKind kind;
  std::string_view name;
  std::size_t most;
  std::string_view parameters;
};
constexpr auto kAccesses = std::to_array<AccessName>({
    {AccessKind::load, "load", 3, "addr, length, stride"},
    {AccessKind::store, "store", 4, "addr, length, stride, value"},
    {AccessKind::atomic, "atomic", 4, "addr, length, stride, value"},
    {AccessKind::fetch, "fetch", 3, "addr, length, stride"},
});

/// Which argument of a call may be a string, counted from 0.
std::optional<std::size_t> string_argument_of(Sys sys) {
  switch (sys) {
    case Sys::memfd_create:
    case Sys::open:
      return 0;
    case Sys::prctl:  // PR_SET_VMA_ANON_NAME
      return 4;
    default:
      return std::nullopt;
  }
}

std::string how_many(std::size_t least, std::size_t most, std::string_view parameters) {
  std::string text = least == most ? std::to_string(most) : std::to_string(least) + " to " + std::to_string(most);
  text += most == 1 ? " argument" : " arguments";
  return parameters.empty() ? text : text + " (" + std::string(parameters) + ")";
}

}  // namespace

std::optional<AccessKind> access_named(std::string_view name) {
  const auto found = std::ranges::find(kAccesses, name, &AccessName::name);
  if (found == kAccesses.end()) return std::nullopt;
  return found->kind;
}

void offer_calls(Nearest& nearest) {
  for (const SysSignature& signature : sys_signatures()) nearest.offer(signature.name);
  for (const AccessName& access : kAccesses) nearest.offer(access.name);
  nearest.offer("code");
  nearest.offer("exit");
}

void Parser::fail_unknown_call(const Token& name) {
  const std::string called = describe(name);
  if (sys_named(name.text)) {
    fail(name.position,
         called + " is a system call: expected it alone, or as 'name = " + std::string(name.text) + "(…)' without let");
  } else if (access_named(name.text)) {
    fail(name.position, called + " gives no value: expected value(addr) for the byte at an address");
  } else if (probe_named(name.text)) {
    fail(name.position, called + " is a question, no statement: expected it in an expression, as in 'expect " +
                            std::string(name.text) + "(…) == …'");
  } else if (name.text == "fork") {
    fail(name.position, "unknown call 'fork': expected 'child { … }', the block that a forked child runs");
  } else {
    Nearest nearest(name.text);
    offer_calls(nearest);
    offer_probes(nearest);
    fail(name.position, "unknown call " + called +
                            nearest.suggestion(": expected a system call such as mmap, or load, store, atomic, fetch"));
  }
}

decltype(Statement::node) Parser::call(const Token& name) {
  if (const auto sys = sys_named(name.text)) {
    return system_call(sys_signatures()[static_cast<std::size_t>(*sys)], name);
  }
  if (const auto kind = access_named(name.text)) return access(*kind, name);
  if (name.text == "code") return place_code(name);
  if (name.text == "exit") return exit_child();
  fail_unknown_call(name);
  return ExitChild{};
}

/// Begins at the parenthesis and ends behind its partner.
Parser::Arguments Parser::arguments(const Token& callee, std::size_t least, std::size_t most,
                                    std::string_view parameters, std::optional<std::size_t> string_argument) {
  Arguments given;
  given.list.reserve(most);
  const std::uint32_t opened = current_.position.line;
  const auto refuse_count = [&](std::string_view found) {
    fail(current_.position,
         std::string(callee.text) + " takes " + how_many(least, most, parameters) + ": " + std::string(found));
  };
  require(TokenKind::left_paren, "'('");
  if (!at(TokenKind::right_paren)) {
    do {
      if (given.list.size() == most) refuse_count("expected ')' but found one more");
      if (at(TokenKind::string) && string_argument == given.list.size()) {
        given.list.push_back(make(current_.position, StringLiteral{current_.decoded}, 1).expr);
        advance();
      } else {
        Sized argument = binary(0);
        given.height = std::max(given.height, argument.height);
        given.list.push_back(std::move(argument.expr));
      }
    } while (accept(TokenKind::comma));
  }
  if (!at(TokenKind::right_paren)) {
    fail_expected("an operator, ',' or ')' to close the '(' of line " + std::to_string(opened));
  }
  if (given.list.size() < least) refuse_count("expected more but found " + std::to_string(given.list.size()));
  advance();
  return given;
}

SystemCall Parser::system_call(const SysSignature& signature, const Token& name) {
  SystemCall call;
  if (signature.sys == Sys::ioctl) {
    call = ioctl_call();
  } else {
    call.sys = signature.sys;
    call.arguments =
        arguments(name, signature.least, signature.most, signature.parameters, string_argument_of(signature.sys)).list;
  }
  if (accept(TokenKind::assign)) call.assertion = system_call_assertion();
  return call;
}

Access Parser::access(AccessKind kind, const Token& name) {
  const AccessName& form = *std::ranges::find(kAccesses, kind, &AccessName::kind);
  Access access;
  access.kind = kind;
  std::vector<ExprPtr> given = arguments(name, 1, form.most, form.parameters).list;
  given.resize(4);
  access.address = std::move(given[0]);
  access.length = std::move(given[1]);
  access.stride = std::move(given[2]);
  access.value = std::move(given[3]);
  if (at_name("at")) {
    if (kind == AccessKind::fetch) {
      fail(current_.position, "a fetch runs the instruction at its own address: expected no 'at'");
    }
    advance();
    access.text = expression();
  }
  if (accept(TokenKind::assign)) access.assertion = access_assertion();
  return access;
}

PlaceCode Parser::place_code(const Token& name) {
  std::vector<ExprPtr> given = arguments(name, 1, 1, "addr").list;
  return {given.empty() ? nullptr : std::move(given.front())};
}

/// The current token is the last one before strace's text in parentheses, if there is any.
void Parser::step_over_note() {
  const std::size_t end = current_.offset + current_.text.size();
  const Lexer::Note note = lexer_.skip_note();
  if (note == Lexer::Note::unclosed) {
    fail(lexer_.position(), "this '(' is never closed: expected ')' before the end of the line");
  }
  const std::size_t note_end = lexer_.offset();
  advance();
  last_end_ = note == Lexer::Note::skipped ? note_end : end;
}

ResultAssertion Parser::system_call_assertion() {
  if (at(TokenKind::name) && signal_named(current_.text)) {
    fail(current_.position, "a system call ends in no signal: expected a value, or -1 and an error name");
  }
  const bool begins_with_minus = at(TokenKind::minus);
  ExprPtr value = expression();
  if (!value || !begins_with_minus || !is_minus_one(*value)) return ExpectValue{std::move(value)};
  constexpr std::string_view kExpected = "an error name after -1, such as -1 ENOMEM";
  const auto error = at(TokenKind::name) ? errno_named(current_.text) : std::nullopt;
  if (!error) {
    Nearest nearest(current_.text);
    for (const Constant& constant : constants()) {
      if (errno_named(constant.name)) nearest.offer(constant.name);
    }
    fail(current_.position,
         "expected " + std::string(kExpected) + " but found " + describe(current_) + nearest.suggestion());
    return ExpectErrno{};
  }
  step_over_note();
  return ExpectErrno{error->value};
}

ResultAssertion Parser::access_assertion() {
  if (at(TokenKind::number) && current_.number == 0) return ExpectValue{expression()};
  const auto number = at(TokenKind::name) ? signal_named(current_.text) : std::nullopt;
  if (!number) {
    fail_expected("how the access ends: 0 for no signal, or a signal such as SIGSEGV SEGV_ACCERR");
    return ExpectSignal{};
  }
  const std::string_view signal = current_.text;
  advance();
  if (!at(TokenKind::name)) return ExpectSignal{*number, std::nullopt};
  const auto code = signal_code_named(current_.text);
  if (!code || signal_code_name(*number, *code) != current_.text) {
    Nearest nearest(current_.text);
    for (const std::string_view known : {"SEGV_MAPERR", "SEGV_ACCERR", "SEGV_PKUERR", "BUS_ADRERR"}) {
      if (known.substr(0, 3) == signal.substr(3, 3)) nearest.offer(known);
    }
    fail(current_.position, "expected a si_code of " + std::string(signal) + " or the end of the statement but found " +
                                describe(current_) + nearest.suggestion());
    return ExpectSignal{};
  }
  advance();
  return ExpectSignal{*number, code};
}

}  // namespace faultline::program
