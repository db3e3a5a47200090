#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

/// The binary form in which host and agent exchange programs and reports. Integers are little-endian base-128 (seven
/// bits a byte, the lowest first), so that nothing depends on the width or the byte order of either side. Writer and
/// Reader have one interface; a type is described once, by a function `transfer(archive, value)` that serves both.
namespace faultline::run {

class Writer {
 public:
  static constexpr bool kReading = false;

  void integer(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_.push_back(static_cast<char>(value | 0x80));
    bytes_.push_back(static_cast<char>(value));
  }
  void text(const std::string& value) {
    integer(value.size());
    bytes_ += value;
  }
  bool good() const { return true; }
  std::string take() && { return std::move(bytes_); }

 private:
  std::string bytes_;
};

/// Survives any bytes: after the first fault good() is false and every value read is 0 or empty. Containers grow only
/// as far as there are bytes for them, and nesting is limited.
class Reader {
 public:
  static constexpr bool kReading = true;
  static constexpr unsigned kDeepest = 1000;

  explicit Reader(std::string_view bytes) : left_(bytes) {}

  std::uint64_t integer();
  /// An integer that must not exceed `most`.
  std::uint64_t integer_up_to(std::uint64_t most);
  std::string text();
  void fail() {
    good_ = false;
    left_ = {};
  }
  bool good() const { return good_; }
  bool at_end() const { return left_.empty(); }
  std::size_t left() const { return left_.size(); }

  /// Nesting: false, and a fault, when it is too deep.
  bool enter() {
    if (++depth_ > kDeepest) fail();
    return good_;
  }
  void leave() { --depth_; }

 private:
  std::string_view left_;
  bool good_ = true;
  unsigned depth_ = 0;
};

/// Transfers an integer or enum. `most` is the highest value allowed; more is a fault of the bytes.
template <class T>
  requires std::integral<T> || std::is_enum_v<T>
void transfer_number(Writer& writer, const T& value, std::uint64_t) {
  // Sign extension is undone by the cast on the other side.
  writer.integer(static_cast<std::uint64_t>(value));
}
template <class T>
  requires std::integral<T> || std::is_enum_v<T>
void transfer_number(Reader& reader, T& value, std::uint64_t most) {
  value = static_cast<T>(reader.integer_up_to(most));
}

template <class Archive, class T>
  requires std::integral<T>
void transfer(Archive& archive, T& value) {
  transfer_number(archive, value, ~std::uint64_t{0});
}
inline void transfer(Writer& writer, std::string& value) { writer.text(value); }
inline void transfer(Reader& reader, std::string& value) { value = reader.text(); }
inline void transfer(Writer& writer, double& value) { writer.integer(std::bit_cast<std::uint64_t>(value)); }
inline void transfer(Reader& reader, double& value) { value = std::bit_cast<double>(reader.integer()); }

/// An enum whose enumerators run from 0 to `last`.
template <class Archive, class E>
void transfer_enum(Archive& archive, E& value, E last) {
  transfer_number(archive, value, static_cast<std::uint64_t>(last));
}

template <class Archive, class T, class Each>
void transfer_list(Archive& archive, std::vector<T>& list, Each each) {
  if constexpr (Archive::kReading) {
    // Every element takes at least one byte, so a length beyond the bytes left is a lie.
    const std::uint64_t count = archive.integer_up_to(archive.left());
    if (!archive.enter()) return;
    for (std::uint64_t i = 0; i < count && archive.good(); ++i) each(archive, list.emplace_back());
    archive.leave();
  } else {
    archive.integer(list.size());
    for (T& element : list) each(archive, element);
  }
}

template <class Archive, class T, class Each>
void transfer_optional(Archive& archive, std::optional<T>& value, Each each) {
  bool present = value.has_value();
  transfer_number(archive, present, 1);
  if constexpr (Archive::kReading) {
    if (!present) return;
    value.emplace();
  }
  if (value) each(archive, *value);
}

namespace detail {
template <class Archive, class Variant, class Each, std::size_t... I>
void transfer_alternative(Archive& archive, Variant& value, std::size_t index, Each each, std::index_sequence<I...>) {
  const auto one = [&]<std::size_t N>() {
    if constexpr (Archive::kReading) value.template emplace<N>();
    each(archive, std::get<N>(value));
  };
  (void)((index == I && (one.template operator()<I>(), true)) || ...);
}
}  // namespace detail

template <class Archive, class... T, class Each>
void transfer_variant(Archive& archive, std::variant<T...>& value, Each each) {
  std::size_t index = value.index();
  transfer_number(archive, index, sizeof...(T) - 1);
  if (!archive.good()) return;
  detail::transfer_alternative(archive, value, index, each, std::index_sequence_for<T...>{});
}

}  // namespace faultline::run
