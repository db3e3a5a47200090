#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/flags.h"

/// What differs between processors: one source file per architecture in arch/ implements it, but for the access
/// routines, of which each holds the instructions and access_routines.cpp the places.
namespace faultline::agent::arch {

/// Reads the time-stamp counter so that everything before it (start), or everything up to it (stop), has been executed.
std::uint64_t ticks_at_start();
std::uint64_t ticks_at_stop();
/// Ticks per nanosecond where the processor tells; 0 where it has to be measured.
double told_ticks_per_nanosecond();

/// A raw system call: the value, or the bits of -errno.
std::uint64_t system_call(long number, const std::uint64_t (&arguments)[6]);

/// Has the processor an instruction that reads, adds and writes in one?
bool has_one_instruction_atomic();

// `count` accesses at addr, addr + stride, …, by instructions of this program.
void load_each(std::uint64_t addr, std::uint64_t count, std::uint64_t stride);
void store_each(std::uint64_t addr, std::uint64_t count, std::uint64_t stride, std::uint8_t value);
void atomic_each(std::uint64_t addr, std::uint64_t count, std::uint64_t stride, std::uint64_t addend);
/// Executes what stands at addr: a return comes back, other contents end in a signal.
void fetch(std::uint64_t addr);
/// The signal came from executing (not from fetching) what `fetch` found at addr: the fetch itself went well.
bool fetched(std::uint64_t addr, std::uint64_t pc, int signal, int code);

/// The instructions that `code(addr)` places: position-independent. They begin with a return, so that the page can be
/// fetched from.
std::span<const std::byte> access_routines();
/// Where in them the routine for one access of this kind begins: a function of (address, value).
std::size_t routine_offset(AccessKind kind);
/// Makes the processor see instructions that were just written.
void synchronize_instructions(std::uint64_t addr, std::size_t bytes);

/// Executes the instruction that the counting plugin of an emulator knows, with this address (run/marks.h).
void mark(std::uint64_t addr);

/// QEMU's firmware configuration device, through which it hands files to a guest without any driver
/// (docs/specs/fw_cfg.rst of QEMU). Needs the rights of init; what is missing otherwise.
const char* open_configuration();
/// Selects an item, which is then read from its start.
void select_configuration(std::uint16_t item);
void read_configuration(std::span<std::byte> bytes);
/// Gives the rights to it back: on x86-64 they cost every return to user mode some instructions.
void close_configuration();

/// Has the processor protection keys that the kernel lets a program use (OSPKE)?
bool has_protection_keys();
/// A thread's rights to all of them (PKRU); 0 where there are none.
std::uint32_t key_rights();
void set_key_rights(std::uint32_t rights);
/// Gives two bits of them a value, by kKeyChangeInstructions instructions.
void change_key_rights(std::uint32_t mask, std::uint32_t bits);
inline constexpr std::uint64_t kKeyChangeInstructions = 6;

/// The program counter in a signal handler's third argument.
std::uint64_t program_counter(const void* ucontext);

}  // namespace faultline::agent::arch
