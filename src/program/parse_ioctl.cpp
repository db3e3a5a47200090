// ioctl(fd, UFFDIO_WRITEPROTECT, {range={start=a, len=PAGE}, mode=UFFDIO_WRITEPROTECT_MODE_WP})
#include <algorithm>

#include "program/ioctl.h"
#include "program/nearest.h"
#include "program/parse_state.h"

namespace faultline::program {
/// Begins at the '{' and ends behind its '}'. Fields that are left out stay null.
void Parser::ioctl_fields(const IoctlRequest& request, std::string_view prefix, std::vector<ExprPtr>& values) {
  require(TokenKind::left_brace, "'{'");
  if (!at(TokenKind::right_brace)) {
    do {
      const Token name = current_;
      require(TokenKind::name, "a field of the struct");
      if (failed()) return;
      const std::string path = std::string(prefix) + std::string(name.text);
      require(TokenKind::assign, "'=' and the field's value");
      const bool is_struct =
          std::ranges::any_of(request.fields, [&](std::string_view field) { return field.starts_with(path + "."); });
      if (is_struct) {
        ioctl_fields(request, path + ".", values);
        continue;
      }
      const auto found = std::ranges::find(request.fields, std::string_view(path));
      if (found == request.fields.end()) {
        fail(name.position,
             std::string(request.name) + " has no field " + describe(name) + ": expected " + ioctl_struct(request));
        return;
      }
      ExprPtr& value = values[static_cast<std::size_t>(found - request.fields.begin())];
      if (value != nullptr) {
        fail(name.position, "the field " + describe(name) + " has a value already: expected each field once");
        return;
      }
      value = expression();
    } while (!failed() && accept(TokenKind::comma));
  }
  require(TokenKind::right_brace, "',' or '}'");
}

SystemCall Parser::ioctl_call() {
  SystemCall call;
  call.sys = Sys::ioctl;
  require(TokenKind::left_paren, "'('");
  call.arguments.push_back(expression());
  require(TokenKind::comma, "',' and a request such as UFFDIO_REGISTER");
  const auto request = at(TokenKind::name) ? ioctl_named(current_.text) : std::nullopt;
  if (!request) {
    Nearest nearest(at(TokenKind::name) ? current_.text : "");
    for (const IoctlRequest& known : ioctl_requests()) nearest.offer(known.name);
    fail(current_.position, "expected a request of ioctl_userfaultfd(2) such as UFFDIO_REGISTER but found " +
                                describe(current_) + nearest.suggestion());
    return call;
  }
  call.arguments.push_back(make(current_.position, NamedConstant{request->number, std::string(request->name)}, 1).expr);
  advance();
  require(TokenKind::comma, "',' and " + ioctl_struct(*request));
  const Position begins = current_.position;
  std::vector<ExprPtr> values(request->fields.size());
  ioctl_fields(*request, "", values);
  require(TokenKind::right_paren, "')'");
  for (ExprPtr& value : values) {
    call.arguments.push_back(value != nullptr ? std::move(value) : make(begins, Number{0, "0"}, 1).expr);
  }
  return call;
}

}  // namespace faultline::program
