#pragma once

#include <cerrno>
#include <expected>
#include <optional>
#include <string_view>

namespace faultline {

/// An error number as the kernel returns it (errno(3)). Always positive.
struct Errno {
  int value = 0;
  bool operator==(const Errno&) const = default;
};

/// What a system call gives back: a value, or the errno that it failed with.
template <class T>
using Result = std::expected<T, Errno>;

/// `return fail(ENOMEM);`
constexpr std::unexpected<Errno> fail(int error) { return std::unexpected(Errno{error}); }

/// The symbolic name, "ENOMEM"; "E?" for a number that errno(3) does not list.
std::string_view errno_name(Errno error);

/// The number of a symbolic name, or nothing when errno(3) does not list it.
std::optional<Errno> errno_named(std::string_view name);

}  // namespace faultline
