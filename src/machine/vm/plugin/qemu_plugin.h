#pragma once

#include <cstddef>
#include <cstdint>

/// QEMU's interface for TCG plugins, version 1: the parts that are used here and by the recorder, declared by this
/// project, as Debian ships no header. Documented in QEMU's docs/devel/tcg-plugins.rst.
extern "C" {

using qemu_plugin_id_t = std::uint64_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;

struct qemu_info_t {
  const char* target_name;
  struct {
    int min;
    int cur;
  } version;
  bool system_emulation;
  struct {
    int smp_vcpus;
    int max_vcpus;
  } system;
};

enum qemu_plugin_cb_flags { QEMU_PLUGIN_CB_NO_REGS };
enum qemu_plugin_mem_rw { QEMU_PLUGIN_MEM_R = 1, QEMU_PLUGIN_MEM_W, QEMU_PLUGIN_MEM_RW };
enum qemu_plugin_op { QEMU_PLUGIN_INLINE_ADD_U64 };
using qemu_plugin_meminfo_t = std::uint32_t;

using qemu_plugin_vcpu_tb_trans_cb_t = void (*)(qemu_plugin_id_t id, qemu_plugin_tb* tb);
using qemu_plugin_vcpu_udata_cb_t = void (*)(unsigned vcpu, void* data);
using qemu_plugin_vcpu_mem_cb_t = void (*)(unsigned vcpu, qemu_plugin_meminfo_t info, std::uint64_t vaddr, void* data);
using qemu_plugin_vcpu_simple_cb_t = void (*)(qemu_plugin_id_t id, unsigned vcpu);
using qemu_plugin_udata_cb_t = void (*)(qemu_plugin_id_t id, void* data);
using qemu_plugin_vcpu_syscall_cb_t = void (*)(qemu_plugin_id_t id, unsigned vcpu, std::int64_t number,
                                               std::uint64_t a1, std::uint64_t a2, std::uint64_t a3, std::uint64_t a4,
                                               std::uint64_t a5, std::uint64_t a6, std::uint64_t a7, std::uint64_t a8);
using qemu_plugin_vcpu_syscall_ret_cb_t = void (*)(qemu_plugin_id_t id, unsigned vcpu, std::int64_t number,
                                                   std::int64_t result);

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, qemu_plugin_vcpu_tb_trans_cb_t cb);
void qemu_plugin_register_vcpu_init_cb(qemu_plugin_id_t id, qemu_plugin_vcpu_simple_cb_t cb);
void qemu_plugin_register_vcpu_tb_exec_cb(qemu_plugin_tb* tb, qemu_plugin_vcpu_udata_cb_t cb,
                                          qemu_plugin_cb_flags flags, void* data);
void qemu_plugin_register_vcpu_syscall_cb(qemu_plugin_id_t id, qemu_plugin_vcpu_syscall_cb_t cb);
void qemu_plugin_register_vcpu_syscall_ret_cb(qemu_plugin_id_t id, qemu_plugin_vcpu_syscall_ret_cb_t cb);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, qemu_plugin_udata_cb_t cb, void* data);
std::size_t qemu_plugin_tb_n_insns(const qemu_plugin_tb* tb);
qemu_plugin_insn* qemu_plugin_tb_get_insn(const qemu_plugin_tb* tb, std::size_t index);
std::uint64_t qemu_plugin_insn_vaddr(const qemu_plugin_insn* insn);
const void* qemu_plugin_insn_data(const qemu_plugin_insn* insn);
std::size_t qemu_plugin_insn_size(const qemu_plugin_insn* insn);
void qemu_plugin_register_vcpu_insn_exec_cb(qemu_plugin_insn* insn, qemu_plugin_vcpu_udata_cb_t cb,
                                            qemu_plugin_cb_flags flags, void* data);
void qemu_plugin_register_vcpu_insn_exec_inline(qemu_plugin_insn* insn, qemu_plugin_op op, void* counter,
                                                std::uint64_t amount);
void qemu_plugin_register_vcpu_mem_cb(qemu_plugin_insn* insn, qemu_plugin_vcpu_mem_cb_t cb, qemu_plugin_cb_flags flags,
                                      qemu_plugin_mem_rw rw, void* data);
bool qemu_plugin_mem_is_store(qemu_plugin_meminfo_t info);
unsigned qemu_plugin_mem_size_shift(qemu_plugin_meminfo_t info);
void* qemu_plugin_insn_haddr(const qemu_plugin_insn* insn);
/// Of user mode: the program's path, to be freed by the caller.
char* qemu_plugin_path_to_binary();
std::uint64_t qemu_plugin_start_code();
void qemu_plugin_outs(const char* text);
}
