#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

#include "arch/arch.h"

namespace faultline::machine::vm {

/// A kernel as QEMU boots it.
struct KernelImage {
  std::string bytes;
  arch::Arch arch = arch::Arch::x86_64;
  /// What the image says of itself: "6.12.117", from its banner; empty when it does not.
  std::string version;
};

/// Takes a bzImage, an arm64 Image (also compressed, or inside an EFI zboot image), a vmlinux, or a Debian package that
/// holds one of these. The error says what was expected.
std::expected<KernelImage, std::string> parse_kernel_image(std::string_view content);

/// "6.12.117" of "6.12.117+deb13-cloud-amd64 (…) #1 SMP Debian 6.12.117-1 (2026-11-12)": a version that a distribution
/// names after its own name counts more, as Debian's releases do not tell the third number.
std::string version_in_banner(std::string_view banner);

}  // namespace faultline::machine::vm
