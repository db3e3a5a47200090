#include "json/node.h"

#include <cmath>

namespace faultline::json {

std::optional<Node> Node::find(const char* key) const {
  if (!json_->is_object()) throw expected("an object");
  const auto found = json_->find(key);
  if (found == json_->end()) return std::nullopt;
  return Node(*found, path_.empty() ? key : path_ + "." + key);
}

Node Node::at(const char* key) const {
  if (auto found = find(key)) return *std::move(found);
  throw Wrong(fmt::format("{} has no \"{}\"", named(), key));
}

const std::string& Node::text() const {
  if (!json_->is_string()) throw expected("a string");
  return json_->get_ref<const std::string&>();
}

std::uint64_t Node::count() const {
  if (const auto value = as_count()) return *value;
  throw expected("a whole number that is not negative");
}

double Node::number() const {
  if (!json_->is_number()) throw expected("a number");
  if (const auto value = as_number()) return *value;
  throw expected("a finite number");
}

std::optional<std::uint64_t> Node::as_count() const {
  if (!json_->is_number_unsigned()) return std::nullopt;
  return json_->get<std::uint64_t>();
}

std::optional<double> Node::as_number() const {
  if (!json_->is_number() || !std::isfinite(json_->get<double>())) return std::nullopt;
  return json_->get<double>();
}

Wrong Node::expected(std::string_view what) const { return Wrong(fmt::format("{}: expected {}", named(), what)); }

}  // namespace faultline::json
