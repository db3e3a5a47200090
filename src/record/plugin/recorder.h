#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "record/format.h"
#include "record/plugin/call_stack.h"
#include "record/plugin/call_table.h"
#include "record/plugin/channel.h"
#include "record/plugin/execution.h"
#include "record/plugin/host_fault.h"
#include "record/plugin/image.h"
#include "record/plugin/memory_map.h"
#include "record/plugin/page_states.h"

namespace faultline::record {

using Arguments = std::array<std::uint64_t, kMostArguments>;

/// A thread of the program; QEMU calls it a processor.
struct Thread {
  std::uint32_t number = 0;
  PageStates::Cache cache;
  CallStack stack;
  std::uint64_t block = 0;           // the beginning of the block that it executes
  std::uint64_t last_call_site = 0;  // address of the instruction that made the system call
  Arguments arguments{};             // of the system call that it is in
  const Meaning* meaning = nullptr;
  bool holds_mappings = false;
  std::uint64_t rseq = 0;          // where the thread asked the kernel to keep its rseq(2) area
  std::uint64_t child_number = 0;  // where a fork that it is in makes the kernel store the child's number, in the child
};

/// The recording of one process: takes what QEMU tells of its execution, and hands records over.
class Recorder {
 public:
  explicit Recorder(Machine machine) : machine_(machine) {}

  void open(const char* pipe) { channel_.open(pipe); }
  /// After every so many system calls each page's next touches are first ones again; 0: never.
  void touch_again_after(std::uint64_t calls) { again_ = calls; }
  /// Before the first instruction, which is at `first`: what is mapped. Guest addresses are host addresses plus `base`.
  void begin(const std::string& program, std::uint64_t code, std::uint64_t first, std::uint64_t base);

  /// Has this kind of touch of the page been recorded, or does one that has been imply it?
  bool seen(Thread& thread, Touch touch, std::uint64_t vaddr) {
    return (thread.cache.at(states_, vaddr).load(std::memory_order_relaxed) & PageStates::bit(touch)) != 0;
  }
  /// How the page has been touched: where `seen` looks, for who looks at one page again and again.
  const std::atomic<std::uint8_t>& state_of(std::uint64_t vaddr) { return states_.at(vaddr); }
  void touch(Thread& thread, Touch touch, std::uint64_t vaddr, std::uint64_t instruction);
  /// A host fault is a refused access where `next`, which is executed next, is the program's handler of that signal.
  void refused(Thread& thread, const HostFault& fault, std::uint64_t next);

  void call_begins(Thread& thread, std::int64_t number, const Arguments& arguments);
  void call_ends(Thread& thread, std::int64_t number, std::int64_t result);

  /// Around fork(2).
  void prepare_fork();
  void fork_in_parent();
  void fork_in_child();
  void finish();

 private:
  struct FileKey {
    std::uint64_t device;
    std::uint64_t inode;
    bool operator==(const FileKey&) const = default;
  };
  struct FileState {
    std::uint64_t number = 0;
    std::uint64_t bytes = 0;
  };
  struct FileHash {
    std::size_t operator()(const FileKey& key) const { return static_cast<std::size_t>(key.inode * 31 + key.device); }
  };

  // All of these with mutex_ held.
  void mapped(const Mapping& mapping);
  void make_known(std::uint64_t vaddr, Touch touch);
  void touched_by_kernel(Thread& thread, std::uint64_t start, std::uint64_t bytes);
  void written_by_kernel(Thread& thread, const Written& written, std::uint64_t result);
  void memory_call(Thread& thread, std::int64_t result);
  void update_memory(Call call, const Arguments& a, std::uint64_t result);
  void fork_begins(Thread& thread, std::uint64_t flags);
  void switched(Thread& thread);
  void truncated(const Thread& thread);
  /// Which files are meant: all, or those that have been told of.
  enum class Files : std::uint8_t { all, known };
  /// The file's number, having told of it and of its size now; 0: none.
  std::uint64_t file_of(const std::string& path, int descriptor, Files files = Files::all);
  std::uint32_t site_of(Thread& thread, std::uint64_t instruction);

  void exec(const Arguments& arguments);
  template <class T>
  std::optional<T> peek(std::uint64_t vaddr) const;
  bool peek(std::uint64_t vaddr, void* to, std::size_t bytes) const;
  std::string text_at(std::uint64_t vaddr) const;

  Machine machine_;
  std::string program_;
  std::optional<Emulator> emulator_;
  std::uint64_t base_ = 0;
  std::mutex
      mappings_;      // held over calls that change mappings, so that their records are in the order of their effects
  std::mutex mutex_;  // guards what follows
  Channel channel_;
  Sites sites_;
  KnownMemory known_;
  std::unordered_map<FileKey, FileState, FileHash> files_;
  std::uint64_t break_ = 0;
  std::uint64_t forks_ = 0;
  std::uint64_t again_ = 0;
  std::uint64_t calls_ = 0;                   // of any kind
  std::array<std::uint64_t, 65> handlers_{};  // by signal, as rt_sigaction(2) was given them
  bool stack_known_ = false;
  PageStates states_;
};

}  // namespace faultline::record
