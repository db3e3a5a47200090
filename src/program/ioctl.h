#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace faultline::program {

/// A request of ioctl_userfaultfd(2) and the fields of its struct that the caller fills in, as strace(1) names them; a
/// field of a struct inside the struct is "range.start". A SystemCall's arguments are the descriptor, the request and
/// the fields, in this order.
struct IoctlRequest {
  std::string_view name;
  std::uint64_t number = 0;
  std::span<const std::string_view> fields;
};

std::span<const IoctlRequest> ioctl_requests();
std::optional<IoctlRequest> ioctl_named(std::string_view name);
std::optional<IoctlRequest> ioctl_numbered(std::uint64_t number);

/// The struct as a program writes it: "{range={start=4096, len=PAGE}, mode=0}"; without values only its fields:
/// "{range={start, len}, mode}". There is a value for each field, or none at all.
std::string ioctl_struct(const IoctlRequest& request, std::span<const std::string> values = {});

}  // namespace faultline::program
