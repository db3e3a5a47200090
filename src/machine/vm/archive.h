#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

/// What is packed and unpacked, by libarchive.
namespace faultline::machine::vm {

/// The kernel of a Debian package: boot/vmlinuz-RELEASE, or vmlinuz beside the modules in newer ones. The error says
/// what the package lacks.
std::expected<std::string, std::string> kernel_in_package(std::string_view package);

/// The content of gzip, xz, zstd, … data.
std::expected<std::string, std::string> decompress(std::string_view data);

/// An initial file system for a kernel: `init` as /init, and the device /dev/console.
std::expected<std::string, std::string> make_initrd(std::string_view init);

}  // namespace faultline::machine::vm
