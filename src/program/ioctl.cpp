#include "program/ioctl.h"

#include <algorithm>
#include <array>

namespace faultline::program {
namespace {

constexpr auto kApi = std::to_array<std::string_view>({"api", "features"});
constexpr auto kRange = std::to_array<std::string_view>({"start", "len"});
constexpr auto kRangeAndMode = std::to_array<std::string_view>({"range.start", "range.len", "mode"});
constexpr auto kCopy = std::to_array<std::string_view>({"dst", "src", "len", "mode"});

// The numbers hold the size of the struct, and are the same on both architectures.
constexpr auto kRequests = std::to_array<IoctlRequest>({
    {"UFFDIO_API", 0xc018aa3f, kApi},
    {"UFFDIO_REGISTER", 0xc020aa00, kRangeAndMode},
    {"UFFDIO_UNREGISTER", 0x8010aa01, kRange},
    {"UFFDIO_WAKE", 0x8010aa02, kRange},
    {"UFFDIO_COPY", 0xc028aa03, kCopy},
    {"UFFDIO_ZEROPAGE", 0xc020aa04, kRangeAndMode},
    {"UFFDIO_WRITEPROTECT", 0xc018aa06, kRangeAndMode},
});

template <class Projection, class Key>
std::optional<IoctlRequest> request_by(Projection projection, const Key& key) {
  const auto found = std::ranges::find(kRequests, key, projection);
  if (found == kRequests.end()) return std::nullopt;
  return *found;
}

}  // namespace

std::span<const IoctlRequest> ioctl_requests() { return kRequests; }
std::optional<IoctlRequest> ioctl_named(std::string_view name) { return request_by(&IoctlRequest::name, name); }
std::optional<IoctlRequest> ioctl_numbered(std::uint64_t number) { return request_by(&IoctlRequest::number, number); }

std::string ioctl_struct(const IoctlRequest& request, std::span<const std::string> values) {
  std::string text = "{";
  std::string_view inside;  // the struct inside the struct that is open
  for (std::size_t i = 0; i < request.fields.size(); ++i) {
    const std::string_view field = request.fields[i];
    const std::size_t dot = field.find('.');
    const std::string_view outer = dot == std::string_view::npos ? "" : field.substr(0, dot);
    if (!inside.empty() && outer != inside) text += '}';
    if (i > 0) text += ", ";
    if (!outer.empty() && outer != inside) (text += outer) += "={";
    text += dot == std::string_view::npos ? field : field.substr(dot + 1);
    if (!values.empty()) (text += '=') += values[i];
    inside = outer;
  }
  return text + (inside.empty() ? "}" : "}}");
}

}  // namespace faultline::program
