#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace faultline::report {

/// JSON whose keys stay in the order in which they are written, for a reader's sake.
using Json = nlohmann::ordered_json;

/// Its text on one line; what is not UTF-8 becomes U+FFFD.
inline std::string dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

/// A JSON array as it is written, one element a line. A program of a million lines has a million rows: they are never
/// held as a tree.
class JsonArray {
 public:
  void add(const std::string& element) {
    text_ += text_.empty() ? "\n" : ",\n";
    text_ += element;
  }
  std::string text() && { return "[" + std::move(text_) + (text_.empty() ? "]" : "\n]"); }

 private:
  std::string text_;
};

}  // namespace faultline::report
