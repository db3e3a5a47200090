#include "machine/vm/kernel_image.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "machine/vm/archive.h"

namespace faultline::machine::vm {
namespace {

constexpr std::string_view kExpected =
    "is no kernel image; expected a bzImage, vmlinuz, Image, vmlinux or a Debian package of a kernel";

template <class T>
T number_at(std::string_view bytes, std::size_t at) {
  T value{};
  if (at + sizeof value <= bytes.size()) std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

bool has_at(std::string_view bytes, std::size_t at, std::string_view magic) {
  return bytes.size() >= at + magic.size() && bytes.substr(at, magic.size()) == magic;
}

std::string_view leading_number(std::string_view text) {
  text = text.substr(0, std::min(text.find_first_not_of("0123456789."), text.size()));
  while (text.ends_with('.')) text.remove_suffix(1);
  return text;
}

// Documentation/arch/x86/boot.rst of the kernel: the setup header at 0x1f1, and in it the offset of the version text.
bool is_bzimage(std::string_view bytes) {
  return has_at(bytes, 0x202, "HdrS") && number_at<std::uint16_t>(bytes, 0x1fe) == 0xaa55;
}
std::string bzimage_version(std::string_view bytes) {
  const std::size_t at = number_at<std::uint16_t>(bytes, 0x20e) + std::size_t{0x200};
  if (at == 0x200 || at >= bytes.size()) return {};
  const std::string_view text = bytes.substr(at, 512);
  return version_in_banner(text.substr(0, text.find('\0')));
}

// Documentation/arch/arm64/booting.rst: the magic at 56 of the header.
bool is_arm64_image(std::string_view bytes) { return has_at(bytes, 56, "ARM\x64"); }

std::string version_in_text(std::string_view bytes) {
  constexpr std::string_view kBanner = "Linux version ";
  for (std::size_t at = bytes.find(kBanner); at != std::string_view::npos; at = bytes.find(kBanner, at + 1)) {
    const std::string_view text = bytes.substr(at + kBanner.size(), 512);
    // The same words also stand in a format string.
    if (std::string version = version_in_banner(text.substr(0, text.find_first_of("\n\0"))); !version.empty()) {
      return version;
    }
  }
  return {};
}

// An EFI program that unpacks its payload: drivers/firmware/efi/libstub/zboot-header.S lays down "MZ", then "zimg",
// the payload's offset and size.
bool is_zboot(std::string_view bytes) { return has_at(bytes, 0, "MZ") && has_at(bytes, 4, "zimg"); }
std::string_view zboot_payload(std::string_view bytes) {
  const std::size_t offset = number_at<std::uint32_t>(bytes, 8);
  if (offset >= bytes.size()) return {};
  return bytes.substr(offset, number_at<std::uint32_t>(bytes, 12));
}

constexpr std::uint16_t kX86Machine = 62;
constexpr std::uint16_t kArm64Machine = 183;

std::optional<std::uint16_t> elf_machine(std::string_view bytes) {
  if (!has_at(bytes, 0,
              "\x7f"
              "ELF") ||
      bytes.size() < 64 || bytes[4] != 2)
    return std::nullopt;
  return number_at<std::uint16_t>(bytes, 18);
}

/// The memory image of an arm64 vmlinux: QEMU boots an Image, which is the loaded segments in their places.
std::expected<std::string, std::string> flatten(std::string_view elf) {
  struct Segment {
    std::uint64_t address, offset, size;
  };
  std::vector<Segment> segments;
  const auto table = number_at<std::uint64_t>(elf, 32);
  const auto entry_size = number_at<std::uint16_t>(elf, 54);
  const auto entries = number_at<std::uint16_t>(elf, 56);
  for (std::uint16_t i = 0; i < entries; ++i) {
    const std::uint64_t at = table + std::uint64_t{i} * entry_size;
    if (at > elf.size() || number_at<std::uint32_t>(elf, at) != 1) continue;  // PT_LOAD
    segments.push_back({number_at<std::uint64_t>(elf, at + 16), number_at<std::uint64_t>(elf, at + 8),
                        number_at<std::uint64_t>(elf, at + 32)});
  }
  if (segments.empty()) return std::unexpected("is an ELF file without anything to load");
  const std::uint64_t base = std::ranges::min(segments, {}, &Segment::address).address;
  std::string image;
  for (const Segment& segment : segments) {
    constexpr std::uint64_t kLargest = std::uint64_t{1} << 30;
    if (segment.offset > elf.size() || segment.size > elf.size() - segment.offset ||
        segment.address - base > kLargest) {
      return std::unexpected("is a damaged ELF file");
    }
    image.resize(std::max<std::size_t>(image.size(), segment.address - base + segment.size));
    image.replace(segment.address - base, segment.size, elf.substr(segment.offset, segment.size));
  }
  if (!is_arm64_image(image)) return std::unexpected("is an arm64 ELF file, but no kernel");
  return image;
}

bool is_compressed(std::string_view bytes) {
  return has_at(bytes, 0, "\x1f\x8b") ||
         has_at(bytes, 0,
                "\xfd"
                "7zXZ") ||
         has_at(bytes, 0, "\x28\xb5\x2f\xfd");
}

}  // namespace

std::string version_in_banner(std::string_view banner) {
  constexpr std::string_view kDebian = " Debian ";
  if (const std::size_t at = banner.find(kDebian); at != std::string_view::npos) {
    if (const std::string_view version = leading_number(banner.substr(at + kDebian.size())); version.contains('.')) {
      return std::string(version);
    }
  }
  const std::string_view version = leading_number(banner);
  return version.contains('.') ? std::string(version) : "";
}

std::expected<KernelImage, std::string> parse_kernel_image(std::string_view content) {
  if (content.starts_with("!<arch>\n")) {
    const auto kernel = kernel_in_package(content);
    if (!kernel) return std::unexpected(kernel.error());
    if (kernel->starts_with("!<arch>\n")) return std::unexpected(std::string(kExpected));
    return parse_kernel_image(*kernel);
  }
  if (is_bzimage(content)) return KernelImage{std::string(content), arch::Arch::x86_64, bzimage_version(content)};
  if (is_arm64_image(content)) return KernelImage{std::string(content), arch::Arch::arm64, version_in_text(content)};
  const auto machine = elf_machine(content);
  if (machine == kX86Machine) return KernelImage{std::string(content), arch::Arch::x86_64, version_in_text(content)};
  if (machine == kArm64Machine) {
    auto image = flatten(content);
    if (!image) return std::unexpected(image.error());
    std::string version = version_in_text(*image);
    return KernelImage{std::move(*image), arch::Arch::arm64, std::move(version)};
  }
  if (is_zboot(content) || is_compressed(content)) {
    const auto inner = decompress(is_zboot(content) ? zboot_payload(content) : content);
    if (!inner) return std::unexpected(inner.error());
    // Only one wrapping: what is packed again is no kernel.
    if (is_arm64_image(*inner) || is_bzimage(*inner) || elf_machine(*inner)) return parse_kernel_image(*inner);
  }
  return std::unexpected(std::string(kExpected));
}

}  // namespace faultline::machine::vm
