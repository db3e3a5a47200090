// The TCG plugin: takes the agent's marks, and counts what the kernel executes between them.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>

#include "machine/vm/plugin/call_tree.h"
#include "machine/vm/plugin/qemu_plugin.h"
#include "machine/vm/plugin/symbols.h"
#include "machine/vm/plugin/windows.h"

namespace faultline::machine::vm {
namespace {

constexpr unsigned kMostProcessors = 16;

struct Processor {
  Windows windows;
  Walker walker;
};

/// The plugin as a whole; QEMU emulates all processors in turn on one thread.
struct Plugin {
  bool arm64 = false;
  bool each_instruction = false;  // a callback for each: for functions, and where processors are to be told apart
  bool functions = false;
  bool counts = true;
  int messages = -1;  // file descriptors
  int records = -1;
  int profile = -1;
  Symbols symbols;
  std::array<Processor, kMostProcessors> processors;
  std::vector<run::WindowRecord> finished;
  std::string message;
  CallTree tree;
};
Plugin* plugin = nullptr;

void write_all(int file, const void* data, std::size_t bytes) {
  const char* at = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t written = write(file, at, bytes);
    if (written <= 0) return;
    at += written;
    bytes -= static_cast<std::size_t>(written);
  }
}

void hand_over() {
  write_all(plugin->records, plugin->finished.data(), plugin->finished.size() * sizeof(run::WindowRecord));
  plugin->finished.clear();
  if (plugin->functions) {
    const std::span<const CallNode> nodes = plugin->tree.nodes();
    if (lseek(plugin->profile, 0, SEEK_SET) == 0) write_all(plugin->profile, nodes.data(), nodes.size_bytes());
  }
  // The message last: whoever reads it finds the rest.
  write_all(plugin->messages, plugin->message.data(), plugin->message.size());
  plugin->message.clear();
}

Processor& processor(unsigned vcpu) { return plugin->processors[std::min(vcpu, kMostProcessors - 1)]; }

void on_mark(unsigned vcpu, qemu_plugin_meminfo_t, std::uint64_t vaddr, void*) {
  Processor& p = processor(vcpu);
  const auto mark = static_cast<std::uint32_t>(vaddr & run::kMarkMask);
  if (p.windows.take(mark, plugin->finished, plugin->message)) hand_over();
  if (plugin->functions && mark == static_cast<std::uint32_t>(run::Mark::window_begins))
    p.walker.restart(p.windows.argument());
}

void on_interrupt(unsigned vcpu, void*) { processor(vcpu).windows.interrupt_begins(); }
void on_exception(unsigned vcpu, void*) { processor(vcpu).windows.exception_begins(); }
void on_fault(unsigned vcpu, void*) {
  Windows& windows = processor(vcpu).windows;
  windows.fault();
  windows.exception_begins();
}
void on_fault_handler(unsigned vcpu, void*) { processor(vcpu).windows.fault(); }
void on_ipi(unsigned vcpu, void*) { processor(vcpu).windows.ipi(); }
void on_return(unsigned vcpu, void*) {
  Windows& windows = processor(vcpu).windows;
  // Counted behind the callbacks, or else by the one before this.
  windows.returns(windows.executed + (plugin->each_instruction ? 0 : 1));
}
void on_instruction(unsigned vcpu, void* data) {
  Processor& p = processor(vcpu);
  ++p.windows.executed;
  if (plugin->functions && p.windows.counts()) p.walker.step(plugin->tree, reinterpret_cast<std::uintptr_t>(data));
}

bool is(std::span<const std::uint8_t> bytes, std::span<const std::uint8_t> wanted) {
  return bytes.size() >= wanted.size() && std::equal(wanted.begin(), wanted.end(), bytes.begin());
}

bool returns_from_exception(std::span<const std::uint8_t> bytes) {
  constexpr std::uint8_t kIretq[] = {0x48, 0xcf};
  constexpr std::uint8_t kEret[] = {0xe0, 0x03, 0x9f, 0xd6};
  return plugin->arm64 ? is(bytes, kEret) : is(bytes, kIretq);
}

qemu_plugin_vcpu_udata_cb_t callback_at(Entry entry) {
  switch (entry) {
    case Entry::none:
      return nullptr;
    case Entry::interrupt:
      return on_interrupt;
    case Entry::exception:
      return on_exception;
    case Entry::fault:
      return on_fault;
    case Entry::fault_handler:
      return on_fault_handler;
    case Entry::sends_ipi:
      return on_ipi;
  }
  return nullptr;
}

void instrument_kernel(qemu_plugin_insn* insn, std::uint64_t vaddr, std::span<const std::uint8_t> bytes) {
  // In this order they run.
  if (const auto callback = callback_at(plugin->symbols.entry(vaddr)); callback != nullptr) {
    qemu_plugin_register_vcpu_insn_exec_cb(insn, callback, QEMU_PLUGIN_CB_NO_REGS, nullptr);
  }
  if (plugin->each_instruction) {
    const std::uintptr_t place =
        plugin->functions ? place_of(plugin->symbols.function(vaddr), bytes, plugin->arm64) : 0;
    qemu_plugin_register_vcpu_insn_exec_cb(insn, on_instruction, QEMU_PLUGIN_CB_NO_REGS,
                                           reinterpret_cast<void*>(place));
  } else {
    qemu_plugin_register_vcpu_insn_exec_inline(insn, QEMU_PLUGIN_INLINE_ADD_U64,
                                               &plugin->processors[0].windows.executed, 1);
  }
  if (returns_from_exception(bytes)) {
    qemu_plugin_register_vcpu_insn_exec_cb(insn, on_return, QEMU_PLUGIN_CB_NO_REGS, nullptr);
  }
}

void on_translation(qemu_plugin_id_t, qemu_plugin_tb* tb) {
  const std::size_t count = qemu_plugin_tb_n_insns(tb);
  for (std::size_t i = 0; i < count; ++i) {
    qemu_plugin_insn* insn = qemu_plugin_tb_get_insn(tb, i);
    const std::uint64_t vaddr = qemu_plugin_insn_vaddr(insn);
    const std::span bytes(static_cast<const std::uint8_t*>(qemu_plugin_insn_data(insn)), qemu_plugin_insn_size(insn));
    const bool kernel = vaddr >> 63 != 0;
    if (kernel) {
      if (plugin->counts) instrument_kernel(insn, vaddr, bytes);
    } else if (plugin->arm64 ? is(bytes, run::kArm64Mark) : is(bytes, run::kX86Mark)) {
      qemu_plugin_register_vcpu_mem_cb(insn, on_mark, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_W, nullptr);
    }
  }
}

int complain(const char* what, const char* argument) {
  std::fprintf(stderr, "faultline plugin: %s: %s\n", what, argument);
  return 1;
}

int configure(std::span<char*> arguments) {
  for (const char* argument : arguments) {
    const std::string_view text = argument;
    const std::size_t equals = text.find('=');
    const std::string_view name = text.substr(0, equals);
    const char* value = equals == std::string_view::npos ? "" : argument + equals + 1;
    if (name == "messages") {
      plugin->messages = std::atoi(value);
    } else if (name == "records") {
      plugin->records = std::atoi(value);
    } else if (name == "profile") {
      plugin->profile = std::atoi(value);
      plugin->functions = plugin->each_instruction = true;
    } else if (name == "counts") {
      plugin->counts = std::string_view(value) != "nothing";
    } else if (name == "symbols") {
      if (!plugin->symbols.read(value)) return complain("cannot be read", value);
    } else {
      return complain("unknown argument", argument);
    }
  }
  return 0;
}

}  // namespace
}  // namespace faultline::machine::vm

extern "C" {

__attribute__((visibility("default"))) int qemu_plugin_version = 1;

__attribute__((visibility("default"))) int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t* info, int argc,
                                                               char** argv) {
  using namespace faultline::machine::vm;
  plugin = std::make_unique<Plugin>().release();  // lives as long as QEMU does
  plugin->arm64 = std::string_view(info->target_name) == "aarch64";
  for (unsigned i = 0; i < kMostProcessors; ++i) plugin->processors[i].windows.processor = i;
  plugin->each_instruction = info->system.smp_vcpus > 1;
  if (const int failed = configure(std::span(argv, static_cast<std::size_t>(argc))); failed != 0) return failed;
  qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
  return 0;
}
}
