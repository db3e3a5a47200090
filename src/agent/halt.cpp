#include "agent/halt.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <string>
#include <string_view>

namespace faultline::agent {
namespace {

constexpr const char* kDevices = "/sys/bus/pci/devices";

/// QEMU's docs/specs/pvpanic.rst: a byte, in which a guest sets the bit of what it has to tell.
constexpr std::string_view kVendor = "0x1b36";
constexpr std::string_view kDevice = "0x0011";
constexpr std::uint8_t kPanicked = 1;

volatile std::uint8_t* events = nullptr;

std::string first_line(const std::string& file) {
  const int opened = open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (opened < 0) return {};
  std::array<char, 64> text{};
  const ssize_t got = read(opened, text.data(), text.size());
  close(opened);
  const std::string_view read_text(text.data(), got > 0 ? static_cast<std::size_t>(got) : 0);
  return std::string(read_text.substr(0, read_text.find('\n')));
}

volatile std::uint8_t* map_events(const std::string& folder) {
  const int enable = open((folder + "/enable").c_str(), O_WRONLY | O_CLOEXEC);
  const bool enabled = enable >= 0 && write(enable, "1", 1) == 1;
  if (enable >= 0) close(enable);
  if (!enabled) return nullptr;
  const int registers = open((folder + "/resource0").c_str(), O_RDWR | O_SYNC | O_CLOEXEC);
  if (registers < 0) return nullptr;
  void* mapped = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, registers, 0);
  close(registers);
  return mapped == MAP_FAILED ? nullptr : static_cast<volatile std::uint8_t*>(mapped);
}

}  // namespace

Halt find_halt() {
  DIR* devices = opendir(kDevices);
  if (devices == nullptr) return Halt::soon;
  while (const dirent* entry = readdir(devices)) {
    const std::string folder = std::string(kDevices) + "/" + entry->d_name;
    if (first_line(folder + "/vendor") != kVendor || first_line(folder + "/device") != kDevice) continue;
    events = map_events(folder);
    break;
  }
  closedir(devices);
  return events != nullptr ? Halt::exact : Halt::soon;
}

void halt() {
  if (events == nullptr) return;
  *events = kPanicked;
  munmap(const_cast<std::uint8_t*>(events), 4096);
  events = nullptr;
}

}  // namespace faultline::agent
