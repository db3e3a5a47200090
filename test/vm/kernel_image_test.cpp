// Which files are kernels.
#include "machine/vm/kernel_image.h"

#include <gtest/gtest.h>

#include <cstring>

#include "machine/vm/archive.h"

namespace faultline::machine::vm {
namespace {

/// As Documentation/arch/x86/boot.rst lays down the header of a bzImage.
std::string bzimage(std::string_view version) {
  std::string image(8192, '\0');
  image[0x1fe] = '\x55';
  image[0x1ff] = '\xaa';
  image.replace(0x202, 4, "HdrS");
  image[0x20e] = '\x00';
  image[0x20f] = '\x10';  // 0x1000, + 0x200
  image.replace(0x1200, version.size(), version);
  return image;
}

/// As Documentation/arch/arm64/booting.rst has it.
std::string arm64_image() {
  std::string image(4096, '\0');
  image.replace(56, 4, "ARM\x64");
  image += "Linux version %s (%s)";
  image += '\0';
  image += "Linux version 6.12.117+deb13-cloud-arm64 (debian) #1 SMP Debian 6.12.117-1 (2026-11-12)\n";
  return image;
}

TEST(KernelImage, IsABzImageWithItsVersion) {
  const auto image = parse_kernel_image(bzimage("6.6.1 (me) #1"));
  ASSERT_TRUE(image) << image.error();
  EXPECT_EQ(image->arch, arch::Arch::x86_64);
  EXPECT_EQ(image->version, "6.6.1");
}

TEST(KernelImage, IsAnArm64ImageWithTheVersionOfItsBanner) {
  const auto image = parse_kernel_image(arm64_image());
  ASSERT_TRUE(image) << image.error();
  EXPECT_EQ(image->arch, arch::Arch::arm64);
  EXPECT_EQ(image->version, "6.12.117");
}

TEST(KernelImage, IsNotAText) {
  const auto image = parse_kernel_image("This is a README.\n");
  ASSERT_FALSE(image);
  EXPECT_TRUE(image.error().contains("expected a bzImage")) << image.error();
}

TEST(KernelImage, SurvivesEveryCutOfAnImage) {
  const std::string whole = bzimage("6.6.1");
  for (std::size_t bytes = 0; bytes < 0x300; ++bytes) {
    static_cast<void>(parse_kernel_image(std::string_view(whole).substr(0, bytes)));
  }
  std::string elf(
      "\x7f"
      "ELF\x02\x01\x01",
      7);
  elf.resize(256, '\xff');
  elf[18] = '\xb7';
  elf[19] = 0;
  EXPECT_FALSE(parse_kernel_image(elf).has_value());
}

TEST(Initrd, IsANewcArchiveOfInitAndTheConsole) {
  const auto initrd = make_initrd("#!init");
  ASSERT_TRUE(initrd);
  EXPECT_TRUE(initrd->starts_with("070701"));
  EXPECT_TRUE(initrd->contains("dev/console"));
  EXPECT_TRUE(initrd->contains("#!init"));
}

}  // namespace
}  // namespace faultline::machine::vm
