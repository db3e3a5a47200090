#include "agent/guest_config.h"

#include <array>
#include <cstdint>
#include <optional>

#include "agent/arch.h"

namespace faultline::agent {
namespace {

/// The item that lists the files: their number, then for each its size, its item, two bytes of nothing, its name;
/// numbers are big-endian.
constexpr std::uint16_t kDirectory = 0x19;
constexpr std::size_t kNameBytes = 56;
constexpr std::uint32_t kMostFiles = 1024;

template <class T>
T read_number() {
  std::array<std::byte, sizeof(T)> bytes{};
  arch::read_configuration(bytes);
  T value = 0;
  for (const std::byte byte : bytes) value = static_cast<T>(value << 8 | std::to_integer<T>(byte));
  return value;
}

struct ConfiguredFile {
  std::uint32_t bytes = 0;
  std::uint16_t item = 0;
  bool operator==(const ConfiguredFile&) const = default;
};

std::optional<ConfiguredFile> find(std::string_view wanted) {
  arch::select_configuration(kDirectory);
  const auto files = read_number<std::uint32_t>();
  for (std::uint32_t i = 0; i < files && i < kMostFiles; ++i) {
    ConfiguredFile file;
    file.bytes = read_number<std::uint32_t>();
    file.item = read_number<std::uint16_t>();
    read_number<std::uint16_t>();
    std::array<std::byte, kNameBytes> name{};
    arch::read_configuration(name);
    const char* text = reinterpret_cast<const char*>(name.data());
    if (std::string_view(text, name.size()).substr(0, wanted.size()) == wanted && text[wanted.size()] == '\0')
      return file;
  }
  return std::nullopt;
}

}  // namespace

std::string read_configured_file(std::string_view name) {
  const auto file = find(name);
  // A guest may be stopped in the middle of reading, and continue beside another directory: only what is read twice
  // holds.
  if (!file || file != find(name)) return {};
  std::string content(file->bytes, '\0');
  arch::select_configuration(file->item);
  arch::read_configuration(std::as_writable_bytes(std::span(content)));
  return content;
}

}  // namespace faultline::agent
