#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <expected>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

/// Documents that someone else may have written: what is wrong in them is said with the way to it.
namespace faultline::json {

/// The first wrong value of a document, which ends its reading. Thrown while read() reads, and caught there.
struct Wrong : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A value and the way to it, "faultline.runs[3].rows[0].samples". What asks for more than is there throws Wrong.
class Node {
 public:
  Node(const nlohmann::json& json, std::string path) : json_(&json), path_(std::move(path)) {}

  /// A member of an object; at() throws where find() has none.
  std::optional<Node> find(const char* key) const;
  Node at(const char* key) const;
  /// The same value by another way.
  Node by(std::string path) const { return {*json_, std::move(path)}; }

  template <class Use>
  void each(Use use) const {
    if (!json_->is_array()) throw expected("an array");
    for (std::size_t i = 0; i < json_->size(); ++i) use(Node((*json_)[i], fmt::format("{}[{}]", path_, i)));
  }
  template <class Use>
  void each_member(Use use) const {
    if (!json_->is_object()) throw expected("an object");
    for (const auto& [key, value] : json_->items()) use(key, Node(value, path_ + "." + key));
  }

  const std::string& text() const;
  std::uint64_t count() const;
  double number() const;
  /// Nothing where it is none, or not finite.
  std::optional<std::uint64_t> as_count() const;
  std::optional<double> as_number() const;

  const std::string& path() const { return path_; }
  Wrong expected(std::string_view what) const;

 private:
  std::string named() const { return path_.empty() ? "the document" : path_; }

  const nlohmann::json* json_;
  std::string path_;
};

/// What `use` makes of the document's root, or what is wrong with the text.
template <class Use>
std::expected<std::invoke_result_t<Use, const Node&>, std::string> read(std::string_view text, Use use) {
  try {
    const nlohmann::json document = nlohmann::json::parse(text);
    return use(Node(document, ""));
  } catch (const nlohmann::json::parse_error& error) {
    return std::unexpected(fmt::format("not JSON: at byte {}", error.byte));
  } catch (const nlohmann::json::exception&) {
    // A number too large for a double.
    return std::unexpected("not JSON that can be read: a value is out of range");
  } catch (const Wrong& wrong) {
    return std::unexpected(wrong.what());
  }
}

}  // namespace faultline::json
