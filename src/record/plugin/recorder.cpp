#include "record/plugin/recorder.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace faultline::record {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kCloneVm = 0x100;
constexpr std::uint64_t kCloneVfork = 0x4000;

bool changes_mappings(const Meaning& meaning) {
  if (meaning.what != Meaning::What::memory) return false;
  return meaning.call == Call::mmap || meaning.call == Call::munmap || meaning.call == Call::mremap ||
         meaning.call == Call::brk;
}

/// A touch that succeeded shows that these would be no event, either.
std::uint8_t implied(Touch touch) {
  using States = PageStates;
  switch (touch) {
    case Touch::store:
    case Touch::atomic:
    case Touch::kernel_store:
      return static_cast<std::uint8_t>(States::bit(Touch::load) | States::bit(Touch::store) |
                                       States::bit(Touch::atomic));
    default:
      return States::bit(touch);
  }
}

}  // namespace

void Recorder::begin(const std::string& program, std::uint64_t code, std::uint64_t first, std::uint64_t base) {
  base_ = base;
  program_ = program;
  emulator_ = this_emulator(program);
  const std::lock_guard guard(mutex_);
  sites_.on_made([this](std::uint32_t number, std::uint32_t caller, std::uint64_t address) {
    channel_.begin(Kind::site).number(number).number(caller).number(address).end();
  });
  channel_.begin(Kind::start).number(static_cast<std::uint64_t>(machine_)).text(program).end();
  Thread kernel;  // whose touches these are
  const auto load = [&](const ElfFile& file, std::uint64_t bias) {
    const LoadedFile loaded = file.loaded(bias);
    for (const Mapping& mapping : loaded.mappings) mapped(mapping);
    for (const std::uint64_t address : loaded.zeroed) {
      touched_by_kernel(kernel, address, kPage - address % kPage);
    }
  };
  if (const auto file = ElfFile::read(program)) load(*file, file->bias_from_code(code));
  if (known_.holds(first)) return;  // a static program
  const auto linker = host_mapping(first + base_);
  if (!linker || linker->path.empty()) return;
  if (const auto file = ElfFile::read(linker->path)) {
    load(*file, file->bias_from(first, linker->offset + (first + base_ - linker->start)));
  }
}

std::uint64_t Recorder::file_of(const std::string& path, int descriptor, Files files) {
  struct stat status{};
  if ((descriptor >= 0 ? fstat(descriptor, &status) : stat(path.c_str(), &status)) != 0) return 0;
  const FileKey key{status.st_dev, status.st_ino};
  if (files == Files::known && !files_.contains(key)) return 0;
  const std::uint64_t bytes = S_ISREG(status.st_mode) ? static_cast<std::uint64_t>(status.st_size) : kNoPages;
  const auto [found, is_new] = files_.try_emplace(key, files_.size() + 1, bytes);
  FileState& file = found->second;
  if (is_new || file.bytes != bytes) {
    file.bytes = bytes;
    channel_.begin(Kind::file).number(file.number).number(bytes).text(path).end();
  }
  return file.number;
}

void Recorder::mapped(const Mapping& mapping) {
  const std::uint64_t bytes = mapping.end - mapping.start;
  const bool anonymous = mapping.path.empty();
  const std::uint64_t flags =
      (mapping.shared ? MAP_SHARED : MAP_PRIVATE) | (anonymous ? std::uint64_t{MAP_ANONYMOUS} : 0);
  const std::uint64_t file = anonymous ? 0 : file_of(mapping.path, -1);
  channel_.begin(Kind::mapped).number(mapping.start).number(bytes).number(mapping.protection).number(flags);
  channel_.number(file).number(mapping.offset).end();
  known_.add(mapping.start, bytes);
}

/// Memory that no call has mapped: the stack, or what QEMU's loader has put somewhere.
void Recorder::make_known(std::uint64_t vaddr, Touch touch) {
  if (known_.holds(vaddr)) return;
  auto found = host_mapping(vaddr + base_);
  if (!found) return;
  found->start -= base_;
  found->end -= base_;
  // QEMU maps what it translates without PROT_EXEC.
  if (touch == Touch::fetch) found->protection |= PROT_EXEC;
  const Mapping unknown = known_.unknown_part(*found, vaddr);
  mapped(unknown);
  if (stack_known_) return;
  // The first is the stack, upon which the arguments have been written.
  stack_known_ = true;
  Thread kernel;
  touched_by_kernel(kernel, vaddr & ~(kPage - 1), unknown.end - (vaddr & ~(kPage - 1)));
}

std::uint32_t Recorder::site_of(Thread& thread, std::uint64_t instruction) {
  return thread.stack.site(sites_, instruction);
}

void Recorder::touch(Thread& thread, Touch touch, std::uint64_t vaddr, std::uint64_t instruction) {
  const std::lock_guard guard(mutex_);
  make_known(vaddr, touch);
  auto& state = thread.cache.at(states_, vaddr);
  const std::uint8_t before = state.fetch_or(implied(touch), std::memory_order_relaxed);
  if ((before & PageStates::bit(touch)) != 0) return;
  const std::uint32_t site = site_of(thread, instruction);
  channel_.begin(Kind::access).number(thread.number).number(static_cast<std::uint64_t>(touch)).number(vaddr);
  channel_.number(1).number(site).end();
}

void Recorder::refused(Thread& thread, const HostFault& fault, std::uint64_t next) {
  const std::lock_guard guard(mutex_);
  // QEMU also begins a block anew that has stored to its own code.
  if (handlers_[static_cast<std::size_t>(fault.signal)] != next) return;
  const std::uint32_t site = site_of(thread, thread.block);
  channel_.begin(Kind::refused).number(thread.number).number(static_cast<std::uint64_t>(fault.touch));
  channel_.number(fault.address - base_).number(site);
  channel_.number(static_cast<std::uint64_t>(fault.signal)).number(static_cast<std::uint64_t>(fault.code)).end();
}

void Recorder::touched_by_kernel(Thread& thread, std::uint64_t start, std::uint64_t bytes) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 40U;
  if (bytes == 0 || bytes > kMost || start > ~std::uint64_t{0} - bytes) return;
  const std::uint64_t end = start + bytes;
  std::uint64_t run = end;  // where pages begin that were not touched; end: nowhere
  const auto emit = [&](std::uint64_t until) {
    if (run >= until) return;
    channel_.begin(Kind::access).number(thread.number).number(static_cast<std::uint64_t>(Touch::kernel_store));
    channel_.number(run).number(until - run).number(0).end();
    run = end;
  };
  for (std::uint64_t at = start; at < end; at = (at & ~(kPage - 1)) + kPage) {
    if (!known_.holds(at)) {
      emit(at);
      make_known(at, Touch::kernel_store);
    }
    const std::uint8_t before =
        thread.cache.at(states_, at).fetch_or(implied(Touch::kernel_store), std::memory_order_relaxed);
    if ((before & PageStates::bit(Touch::store)) != 0) {
      emit(at);
    } else if (run == end) {
      run = at;
    }
  }
  emit(end);
}

void Recorder::prepare_fork() {
  mappings_.lock();
  mutex_.lock();
  channel_.flush();
  states_.lock();
}

void Recorder::fork_in_parent() {
  states_.unlock();
  mutex_.unlock();
  mappings_.unlock();
}

void Recorder::fork_in_child() {
  channel_.forked();
  channel_.begin(Kind::forked).number(static_cast<std::uint64_t>(getppid())).number(forks_).end();
  fork_in_parent();
}

void Recorder::finish() {
  const std::lock_guard guard(mutex_);
  channel_.flush();
}

/// The kernel writes where a thread runs into its rseq area whenever it was switched, and so after a fork. QEMU refuses
/// rseq(2); a kernel would not.
void Recorder::switched(Thread& thread) {
  constexpr std::uint64_t kArea = 32;
  if (thread.rseq != 0) touched_by_kernel(thread, thread.rseq, kArea);
}

void Recorder::truncated(const Thread& thread) {
  constexpr std::int64_t kMostDescriptors = std::int64_t{1} << 31U;
  const std::uint64_t first = thread.arguments[0];
  if (first < kMostDescriptors) {
    file_of({}, static_cast<int>(first), Files::known);
  } else {
    file_of(text_at(first), -1, Files::known);
  }
  states_.forget_all();
}

void Recorder::fork_begins(Thread& thread, std::uint64_t flags) {
  constexpr std::uint64_t kChildSetTid = 0x01000000;
  const Arguments& a = thread.arguments;
  thread.child_number = 0;
  if ((flags & kChildSetTid) != 0) thread.child_number = machine_ == Machine::arm64 ? a[4] : a[3];
  if ((flags & kCloneVm) != 0 && (flags & kCloneVfork) == 0) return;  // a thread
  channel_.begin(Kind::forking).number(thread.number).number(flags).number(++forks_).end();
  // Both have to break what they share; but not after vfork, which QEMU only makes a fork of.
  if ((flags & kCloneVm) == 0) states_.forget_all();
}

void Recorder::call_begins(Thread& thread, std::int64_t number, const Arguments& arguments) {
  const Meaning& meaning = meaning_of(machine_, number);
  thread.arguments = arguments;
  thread.meaning = &meaning;
  if (changes_mappings(meaning)) {
    mappings_.lock();
    thread.holds_mappings = true;
  }
  if (meaning.what == Meaning::What::exec) return exec(arguments);
  constexpr std::int64_t kVfork = 58;
  constexpr std::int64_t kFork = 57;
  const std::lock_guard guard(mutex_);
  switch (meaning.what) {
    case Meaning::What::fork: {
      const bool plain = machine_ == Machine::x86_64 && (number == kFork || number == kVfork);
      fork_begins(thread, plain ? (number == kVfork ? kCloneVm | kCloneVfork : 0) : arguments[0]);
      break;
    }
    case Meaning::What::handles:
      // The handler is the first word of the structure.
      if (arguments[0] < handlers_.size() && arguments[1] != 0) {
        std::uint64_t& handler = handlers_[arguments[0]];
        if (!peek(arguments[1], &handler, sizeof handler)) handler = 0;
      }
      break;
    case Meaning::What::exit:
      channel_.begin(Kind::ended).number(thread.number).number(arguments[0] & 0xff).end();
      break;
    default:
      break;
  }
  if (again_ != 0 && ++calls_ % again_ == 0) states_.forget_all();
  channel_.flush();
}

void Recorder::call_ends(Thread& thread, std::int64_t, std::int64_t result) {
  const Meaning* meaning = thread.meaning;
  if (meaning == nullptr) return;
  {
    const std::lock_guard guard(mutex_);
    switch (meaning->what) {
      case Meaning::What::memory:
        memory_call(thread, result);
        break;
      case Meaning::What::writes:
      case Meaning::What::handles:
        if (failed(result)) break;
        for (const Written& written : meaning->written) {
          written_by_kernel(thread, written, static_cast<std::uint64_t>(result));
        }
        break;
      case Meaning::What::truncates:
        if (!failed(result)) truncated(thread);
        break;
      case Meaning::What::fork:
        if (failed(result)) break;
        // Of a thread, which is not told apart here, the page is its creator's own, and touched already.
        if (result == 0 && thread.child_number != 0) touched_by_kernel(thread, thread.child_number, sizeof(int));
        switched(thread);
        break;
      case Meaning::What::rseq:
        thread.rseq = thread.arguments[0];
        switched(thread);
        break;
      default:
        break;
    }
  }
  thread.meaning = nullptr;
  if (!thread.holds_mappings) return;
  thread.holds_mappings = false;
  mappings_.unlock();
}

}  // namespace faultline::record
