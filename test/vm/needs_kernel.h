#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "machine/vm/kernel_store.h"
#include "machine/vm/qemu.h"
#include "machine/vm/subprocess.h"

namespace faultline::machine {

/// Why a kernel cannot be tested here; empty where it can.
inline std::string missing(const std::string& kernel) {
  const vm::KernelName name = vm::KernelName::parse(kernel);
  const bool arm64 = name.arch == arch::Arch::arm64;
  const std::string qemu = arm64 ? "qemu-system-aarch64" : "qemu-system-x86_64";
  if (vm::find_program(qemu).empty()) return qemu + " is not installed: scripts/install-deps.sh vm";
  if (const auto agent = vm::find_guest_agent(name.arch); !agent) return agent.error();
  const auto store = vm::KernelStore::open();
  if (!store) return store.error();
  const auto found = store->find(name);
  return found ? "" : found.error();
}

/// A kernel's name as a part of a test's: "arm64/6.12" is arm64_6_12.
inline std::string test_name(std::string kernel) {
  std::ranges::replace_if(kernel, [](char c) { return c == '.' || c == '/'; }, '_');
  return kernel;
}

}  // namespace faultline::machine

/// Skips a test, with the reason, where QEMU or the kernel is missing.
#define NEEDS(kernel) \
  if (const std::string why = faultline::machine::missing(kernel); !why.empty()) GTEST_SKIP() << why
