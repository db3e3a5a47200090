// The recorder's TCG plugin: instruments the program that QEMU's user mode runs.
#include <pthread.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "machine/vm/plugin/qemu_plugin.h"
#include "record/plugin/instructions.h"
#include "record/plugin/recorder.h"

namespace faultline::record {
namespace {

constexpr unsigned kMostThreads = 4096;

/// A place where execution enters a page: a block of translated code, or an instruction of it on its second page.
struct Block {
  std::uint64_t start = 0;
  const std::atomic<std::uint8_t>* page = nullptr;  // its state
};

struct Plugin {
  explicit Plugin(Machine of) : machine(of), recorder(of) {}
  Machine machine;
  Recorder recorder;
  std::atomic<bool> begun = false;
  std::mutex mutex;                                 // guards what follows
  std::unordered_set<std::uint64_t> return_places;  // where execution goes on behind a call instruction
  std::unordered_map<std::uint64_t, Block> blocks;  // by their starts
  std::array<std::unique_ptr<Thread>, kMostThreads> threads;
};
Plugin* plugin = nullptr;
std::array<Thread*, kMostThreads> thread_table{};  // beside the plugin, one step nearer

Thread& thread_of(unsigned vcpu) { return *thread_table[vcpu % kMostThreads]; }

std::uint64_t place_in(void* data) { return reinterpret_cast<std::uintptr_t>(data); }
void* as_data(std::uint64_t place) { return reinterpret_cast<void*>(static_cast<std::uintptr_t>(place)); }

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kWidest = 64;  // bytes that one instruction accesses at once

/// May the access reach into the next page?
bool may_cross(std::uint64_t vaddr) { return vaddr % kPage > kPage - kWidest; }

[[gnu::noinline]] void touched(Thread& thread, Touch touch, qemu_plugin_meminfo_t info, std::uint64_t vaddr,
                               void* data) {
  if (!plugin->recorder.seen(thread, touch, vaddr)) plugin->recorder.touch(thread, touch, vaddr, place_in(data));
  if (!may_cross(vaddr)) return;
  const std::uint64_t last = vaddr + (std::uint64_t{1} << qemu_plugin_mem_size_shift(info)) - 1;
  if (last / kPage == vaddr / kPage || plugin->recorder.seen(thread, touch, last)) return;
  plugin->recorder.touch(thread, touch, last & ~(kPage - 1), place_in(data));
}

// One callback for loads and stores: QEMU 7.2 gives loads to callbacks that asked for stores only. Most accesses are to
// pages that have been stored to, where nothing is left to see: then it does not matter which it is.
// What is left to see is behind a call in its last place, so that the callback needs no frame.
[[gnu::noinline]] void touched_perhaps(Thread& thread, qemu_plugin_meminfo_t info, std::uint64_t vaddr, void* data) {
  touched(thread, qemu_plugin_mem_is_store(info) ? Touch::store : Touch::load, info, vaddr, data);
}
void on_access(unsigned vcpu, qemu_plugin_meminfo_t info, std::uint64_t vaddr, void* data) {
  Thread& thread = thread_of(vcpu);
  if (!may_cross(vaddr) && thread.cache.known_to_hold(vaddr, PageStates::bit(Touch::store))) [[likely]] {
    return;
  }
  touched_perhaps(thread, info, vaddr, data);
}
void on_atomic(unsigned vcpu, qemu_plugin_meminfo_t info, std::uint64_t vaddr, void* data) {
  touched(thread_of(vcpu), Touch::atomic, info, vaddr, data);
}

[[gnu::noinline]] void enter(Thread& thread, std::uint64_t place) {
  if (host_fault.signal != 0) plugin->recorder.refused(thread, std::exchange(host_fault, {}), place);
  thread.block = place;
  if (!plugin->recorder.seen(thread, Touch::fetch, place)) plugin->recorder.touch(thread, Touch::fetch, place, place);
}
void on_block(unsigned vcpu, void* data) {
  Thread& thread = thread_of(vcpu);
  const Block& block = *static_cast<const Block*>(data);
  const bool seen = (block.page->load(std::memory_order_relaxed) & PageStates::bit(Touch::fetch)) != 0;
  if (seen && host_fault.signal == 0) [[likely]] {
    thread.block = block.start;
  } else {
    enter(thread, block.start);
  }
}
void on_block_behind_call(unsigned vcpu, void* data) {
  thread_of(vcpu).stack.returned(static_cast<const Block*>(data)->start);
  on_block(vcpu, data);
}
void on_call(unsigned vcpu, void* data) { thread_of(vcpu).stack.call(place_in(data)); }
void on_system_call(unsigned vcpu, void* data) { thread_of(vcpu).last_call_site = place_in(data); }

void begin(const qemu_plugin_insn* first) {
  if (plugin->begun.exchange(true)) return;
  const std::unique_ptr<char, decltype(&std::free)> path(qemu_plugin_path_to_binary(), &std::free);
  const std::uint64_t vaddr = qemu_plugin_insn_vaddr(first);
  const std::uint64_t base = reinterpret_cast<std::uintptr_t>(qemu_plugin_insn_haddr(first)) - vaddr;
  const std::unique_ptr<char, decltype(&std::free)> real(realpath(path.get(), nullptr), &std::free);
  watch_host_faults();
  plugin->recorder.begin(real != nullptr ? real.get() : path.get(), qemu_plugin_start_code(), vaddr, base);
}

/// With the plugin's mutex held.
Block& block_at(std::uint64_t start) {
  Block& block = plugin->blocks[start];
  block = {start, &plugin->recorder.state_of(start)};
  return block;
}

void on_translation(qemu_plugin_id_t, qemu_plugin_tb* tb) {
  const std::size_t count = qemu_plugin_tb_n_insns(tb);
  if (count == 0) return;
  qemu_plugin_insn* first = qemu_plugin_tb_get_insn(tb, 0);
  begin(first);
  const std::uint64_t start = qemu_plugin_insn_vaddr(first);
  std::uint64_t page = start >> 12U;
  const std::lock_guard guard(plugin->mutex);
  qemu_plugin_register_vcpu_tb_exec_cb(tb, plugin->return_places.contains(start) ? on_block_behind_call : on_block,
                                       QEMU_PLUGIN_CB_NO_REGS, &block_at(start));
  for (std::size_t i = 0; i < count; ++i) {
    qemu_plugin_insn* insn = qemu_plugin_tb_get_insn(tb, i);
    const std::uint64_t vaddr = qemu_plugin_insn_vaddr(insn);
    const std::span bytes(static_cast<const std::uint8_t*>(qemu_plugin_insn_data(insn)), qemu_plugin_insn_size(insn));
    const std::uint64_t last_page = (vaddr + bytes.size() - 1) >> 12U;
    if (last_page != page) {
      page = last_page;
      qemu_plugin_register_vcpu_insn_exec_cb(insn, on_block, QEMU_PLUGIN_CB_NO_REGS,
                                             &block_at(std::max(vaddr, page << 12U)));
    }
    const Instruction instruction = classify(plugin->machine, bytes);
    if (instruction == Instruction::atomic) {
      qemu_plugin_register_vcpu_mem_cb(insn, on_atomic, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW, as_data(vaddr));
      continue;
    }
    qemu_plugin_register_vcpu_mem_cb(insn, on_access, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW, as_data(vaddr));
    if (instruction == Instruction::call) {
      const std::uint64_t behind = vaddr + bytes.size();
      qemu_plugin_register_vcpu_insn_exec_cb(insn, on_call, QEMU_PLUGIN_CB_NO_REGS, as_data(behind));
      plugin->return_places.insert(behind);
    } else if (instruction == Instruction::system_call) {
      qemu_plugin_register_vcpu_insn_exec_cb(insn, on_system_call, QEMU_PLUGIN_CB_NO_REGS, as_data(vaddr));
    }
  }
}

void on_thread(qemu_plugin_id_t, unsigned vcpu) {
  const std::lock_guard guard(plugin->mutex);
  auto& thread = plugin->threads[vcpu % kMostThreads];
  thread = std::make_unique<Thread>();
  thread->number = vcpu;
  thread_table[vcpu % kMostThreads] = thread.get();
}

void on_call_begins(qemu_plugin_id_t, unsigned vcpu, std::int64_t number, std::uint64_t a1, std::uint64_t a2,
                    std::uint64_t a3, std::uint64_t a4, std::uint64_t a5, std::uint64_t a6, std::uint64_t,
                    std::uint64_t) {
  plugin->recorder.call_begins(thread_of(vcpu), number, {a1, a2, a3, a4, a5, a6});
}
void on_call_ends(qemu_plugin_id_t, unsigned vcpu, std::int64_t number, std::int64_t result) {
  plugin->recorder.call_ends(thread_of(vcpu), number, result);
}
void on_exit(qemu_plugin_id_t, void*) { plugin->recorder.finish(); }

}  // namespace
}  // namespace faultline::record

extern "C" {

__attribute__((visibility("default"))) int qemu_plugin_version = 1;

__attribute__((visibility("default"))) int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t* info, int argc,
                                                               char** argv) {
  using namespace faultline::record;
  constexpr std::string_view kPipe = "pipe=";
  constexpr std::string_view kAgain = "again=";
  const bool again = argc == 2 && std::string_view(argv[1]).starts_with(kAgain);
  if (info->system_emulation || argc < 1 || (argc > 1 && !again) || !std::string_view(argv[0]).starts_with(kPipe)) {
    std::fprintf(stderr, "faultline recorder: expected QEMU's user mode and the arguments pipe=PATH[,again=CALLS]\n");
    return 1;
  }
  const bool arm64 = std::string_view(info->target_name) == "aarch64";
  plugin = std::make_unique<Plugin>(arm64 ? Machine::arm64 : Machine::x86_64).release();  // lives as long as QEMU
  plugin->recorder.open(argv[0] + kPipe.size());
  constexpr int kDecimal = 10;
  if (again) plugin->recorder.touch_again_after(std::strtoull(argv[1] + kAgain.size(), nullptr, kDecimal));
  pthread_atfork([] { plugin->recorder.prepare_fork(); }, [] { plugin->recorder.fork_in_parent(); },
                 [] { plugin->recorder.fork_in_child(); });
  qemu_plugin_register_vcpu_init_cb(id, on_thread);
  qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
  qemu_plugin_register_vcpu_syscall_cb(id, on_call_begins);
  qemu_plugin_register_vcpu_syscall_ret_cb(id, on_call_ends);
  qemu_plugin_register_atexit_cb(id, on_exit, nullptr);
  return 0;
}
}
