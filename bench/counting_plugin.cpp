// A QEMU plugin whose callback does nothing but count accesses: the least that one which looks at every access can
// cost. What the recorder adds to it is measured by scripts/record-overhead.sh.
#include <cstdint>
#include <cstdio>

#include "machine/vm/plugin/qemu_plugin.h"

namespace {

std::uint64_t accesses = 0;

void on_access(unsigned /*vcpu*/, qemu_plugin_meminfo_t /*info*/, std::uint64_t /*vaddr*/, void* /*data*/) {
  ++accesses;
}

void on_translation(qemu_plugin_id_t /*id*/, qemu_plugin_tb* tb) {
  for (std::size_t i = 0; i < qemu_plugin_tb_n_insns(tb); ++i) {
    qemu_plugin_register_vcpu_mem_cb(qemu_plugin_tb_get_insn(tb, i), on_access, QEMU_PLUGIN_CB_NO_REGS,
                                     QEMU_PLUGIN_MEM_RW, nullptr);
  }
}

void on_exit(qemu_plugin_id_t /*id*/, void* /*data*/) {
  std::fprintf(stderr, "accesses: %llu\n", static_cast<unsigned long long>(accesses));
}

}  // namespace

extern "C" {

[[gnu::visibility("default")]] extern const int qemu_plugin_version;
const int qemu_plugin_version = 1;

[[gnu::visibility("default")]] int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t* /*info*/, int /*argc*/,
                                                       char** /*argv*/) {
  qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
  qemu_plugin_register_atexit_cb(id, on_exit, nullptr);
  return 0;
}
}
