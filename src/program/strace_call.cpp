#include "program/strace_call.h"

#include <algorithm>

#include "program/character.h"
#include "program/constants.h"
#include "program/nearest.h"
#include "program/number.h"
#include "program/utf8.h"

namespace faultline::program {
namespace {

/// Walks a call's text. The first failure is kept and stops the walk.
class CallReader {
 public:
  explicit CallReader(std::string_view text) : text_(text) {}

  std::expected<RecordedCall, RecordedCallError> read(std::size_t least, std::size_t most,
                                                      std::optional<std::size_t> string_argument) {
    RecordedCall call;
    require('(', "'('");
    skip();
    while (!failed() && !at(')')) {
      if (call.count > 0) require(',', "'|', ',' or ')'");
      if (call.count == most) fail("expected ')' behind " + std::to_string(most) + " arguments");
      skip();
      const bool string = at('"') && call.count == string_argument;
      const std::uint64_t value = string ? skip_string() : argument();
      if (!failed()) call.arguments[call.count++] = value;
      skip();
    }
    if (!failed() && call.count < least) {
      fail("expected at least " + std::to_string(least) + " arguments, found " + std::to_string(call.count));
    }
    require(')', "')'");
    skip();
    require('=', "'=' and the call's result");
    skip();
    call.result = result();
    trailer();
    if (error_) return std::unexpected(std::move(*error_));
    return call;
  }

 private:
  bool failed() const { return error_.has_value(); }
  bool at(char c) const { return offset_ < text_.size() && text_[offset_] == c; }
  bool at(std::string_view what) const { return text_.substr(offset_).starts_with(what); }

  void fail(std::string message) {
    if (!failed()) error_ = RecordedCallError{offset_, std::move(message)};
  }
  std::string found() const {
    const std::string_view rest = text_.substr(offset_);
    return rest.empty() ? "the end of the line" : "'" + excerpt(rest.substr(0, 20)) + "'";
  }
  void require(char c, std::string_view expected) {
    if (failed()) return;
    if (at(c)) {
      ++offset_;
    } else {
      fail("expected " + std::string(expected) + " but found " + found());
    }
  }

  /// Steps over blanks and comments.
  void skip() {
    while (offset_ < text_.size() && !failed()) {
      if (text_[offset_] == ' ' || text_[offset_] == '\t') {
        ++offset_;
      } else if (at("/*")) {
        const std::size_t end = text_.find("*/", offset_ + 2);
        if (end == std::string_view::npos) return fail("this comment is never closed: expected '*/'");
        offset_ = end + 2;
      } else {
        return;
      }
    }
  }

  /// Steps over "</usr/lib/libc.so.6>"; with -yy there may be another pair inside.
  void skip_path() {
    if (!at('<')) return;
    const std::size_t start = offset_;
    std::size_t depth = 0;
    for (; offset_ < text_.size(); ++offset_) {
      if (text_[offset_] == '<') ++depth;
      // "<TCP:[127.0.0.1:1->127.0.0.1:2]>" has an arrow inside.
      if (text_[offset_] == '>' && text_[offset_ - 1] != '-' && --depth == 0) {
        ++offset_;
        return;
      }
    }
    offset_ = start;
    fail("this '<' is never closed: expected '>'");
  }

  /// Steps over "a name", which may be cut off ("a long na"...).
  std::uint64_t skip_string() {
    const std::size_t start = offset_++;
    while (offset_ < text_.size() && text_[offset_] != '"') offset_ += text_[offset_] == '\\' ? 2 : 1;
    if (offset_ >= text_.size()) {
      offset_ = start;
      fail("this string is never closed: expected '\"'");
      return 0;
    }
    ++offset_;
    if (at("...")) offset_ += 3;
    return 0;
  }

  std::string_view word() {
    const std::size_t start = offset_;
    while (offset_ < text_.size() && is_name_part(text_[offset_])) ++offset_;
    return text_.substr(start, offset_ - start);
  }

  /// "PROT_READ|0x4", "MAP_PRIVATE|21<<MAP_HUGE_SHIFT", "3</path>", "-1".
  std::uint64_t argument() {
    std::uint64_t value = 0;
    for (;;) {
      value |= term();
      skip();
      if (failed() || !at('|')) return value;
      ++offset_;
    }
  }

  std::uint64_t term() {
    const std::uint64_t value = atom();
    skip();
    if (failed() || !at("<<")) return value;
    offset_ += 2;
    const std::uint64_t bits = atom();
    return bits < 64 ? value << bits : 0;
  }

  std::uint64_t atom() {
    skip();
    if (failed()) return 0;
    const std::size_t start = offset_;
    if (at('-')) {
      ++offset_;
      return 0 - number(start);
    }
    if (offset_ < text_.size() && is_digit(text_[offset_])) {
      const std::uint64_t value = number(start);
      if (!at("<<")) skip_path();
      return value;
    }
    const std::string_view name = word();
    if (name.empty()) {
      fail("expected a number or a constant such as PROT_READ but found " + found());
      return 0;
    }
    const auto constant = constant_named(name);
    if (constant) return *constant;
    offset_ = start;
    Nearest nearest(name);
    for (const Constant& known : constants()) nearest.offer(known.name);
    fail("unknown constant '" + excerpt(name) + "'" + nearest.suggestion(": expected one such as PROT_READ"));
    return 0;
  }

  std::uint64_t number(std::size_t start) {
    const std::size_t digits = offset_;
    const auto value = parse_number(word());
    if (value) return *value;
    offset_ = std::min(start, digits);
    fail("expected a number: " + value.error());
    return 0;
  }

  RecordedResult result() {
    RecordedResult result;
    if (failed()) return result;
    if (at('?')) {
      ++offset_;
      skip();
      word();  // ERESTARTSYS
      return result;
    }
    const bool negative = at('-');
    const std::uint64_t value = atom();
    if (failed()) return result;
    if (!negative) {
      result.value = value;
      return result;
    }
    skip();
    const std::size_t start = offset_;
    const std::string_view name = word();
    result.error = errno_named(name);
    if (!result.error) {
      offset_ = start;
      fail("expected an error name behind the -1, such as ENOMEM, but found " + found());
    }
    return result;
  }

  /// "(Cannot allocate memory)", "(INJECTED)", "<0.000012>".
  void trailer() {
    for (skip(); !failed() && offset_ < text_.size(); skip()) {
      if (at('<')) {
        skip_path();
      } else if (at('(')) {
        const std::size_t end = text_.find(')', offset_);
        if (end == std::string_view::npos) return fail("this '(' is never closed: expected ')'");
        offset_ = end + 1;
      } else {
        return fail("expected the end of the line but found " + found());
      }
    }
  }

  std::string_view text_;
  std::size_t offset_ = 0;
  std::optional<RecordedCallError> error_;
};

}  // namespace

std::expected<RecordedCall, RecordedCallError> read_recorded_call(std::string_view text, std::size_t least,
                                                                  std::size_t most,
                                                                  std::optional<std::size_t> string_argument) {
  return CallReader(text).read(least, most, string_argument);
}

}  // namespace faultline::program
