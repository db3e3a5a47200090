#include "record/space.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <memory>
#include <utility>

#include "base/flags.h"
#include "base/page.h"
#include "program/strace_call.h"
#include "program/strace_statement.h"
#include "record/system_call.h"

namespace faultline::record {
namespace {

using program::call_statement;
using program::call_statement_into;
using program::Position;
using program::RecordedCall;
using program::SpelledArgument;
using program::Spelling;
using program::Statement;
using program::Sys;

constexpr Position kOwn{0, 0};  // statements that stand for nothing recorded

program::ExprPtr number(Position position, std::uint64_t value, int base) {
  std::array<char, 20> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value, base).ptr;
  program::Number literal{value, (base == 16 ? "0x" : "") + std::string(digits.data(), end)};
  return std::make_unique<program::Expr>(position, std::move(literal));
}

AccessKind kind_of(Touch touch) {
  switch (touch) {
    case Touch::load:
      return AccessKind::load;
    case Touch::atomic:
      return AccessKind::atomic;
    case Touch::fetch:
      return AccessKind::fetch;
    case Touch::store:
    case Touch::kernel_store:
      return AccessKind::store;
  }
  std::unreachable();
}

program::RecordedResult result_of(std::uint64_t result) {
  constexpr std::uint64_t kMostErrors = 4095;
  const std::uint64_t error = 0 - result;
  if (error != 0 && error <= kMostErrors) return {std::nullopt, Errno{static_cast<int>(error)}};
  return {result, std::nullopt};
}

/// QEMU's user mode answers these itself, and not as a kernel does: mseal is ENOSYS, advice other than MADV_DONTNEED is
/// taken without being followed.
bool answered_by_qemu(const MemoryCall& call) {
  constexpr std::uint64_t kDontNeed{std::to_underlying(Advice::dontneed)};
  return call.call == Call::mseal || (call.call == Call::madvise && call.arguments[2] != kDontNeed);
}

}  // namespace

void Space::begin(Making& making) {
  making.slots.emplace_back("zeros");
  statements().push_back(call_statement_into(kOwn, Sys::open, {{0, Spelling::text, "/dev/zero"}, {0}},
                                             {kZeros, Spelling::variable, "zeros"}));
}

Space Space::forked() const {
  Space child;
  child.memory_ = memory_.forked();
  child.files_ = files_;
  return child;
}

void Space::add_file(const File& file, Making& making) {
  FileState& state = files_[file.id];
  state.bytes = file.bytes;
  state.cached = std::min(state.cached, page_ceil(file.bytes));
  if (state.slot) truncate(file.id, file.bytes, making);
}

void Space::truncate(std::uint64_t id, std::uint64_t bytes, Making& making) {
  constexpr std::uint64_t kLargest = std::uint64_t{1} << 40U;
  RecordedCall call;
  call.arguments = {id, std::min(bytes, kLargest)};
  call.result.value = 0;
  memory_.add(Sys::ftruncate, call, kOwn, making.tally, making.slots);
}

/// A file in the page cache is a memfd whose pages have been written: read faults map what lies around them, too.
void Space::cache(FileState& file, std::uint64_t bytes, Making& making) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 30U;
  std::uint64_t end = page_ceil(std::min(bytes, file.bytes));
  if (end > kMost) {
    ++making.capped_files;
    end = kMost;
  }
  if (end <= file.cached) return;
  const std::uint64_t slot = making.slots.size();
  making.slots.push_back("cache" + std::to_string(slot));
  const std::string name = making.slots.back();
  const SpelledArgument memory{slot, Spelling::variable, name};
  const SpelledArgument memfd{*file.slot, Spelling::variable, making.slots[*file.slot]};
  const std::uint64_t added = end - file.cached;
  statements().push_back(call_statement_into(kOwn, Sys::mmap,
                                             {{0, Spelling::address},
                                              {added},
                                              {std::to_underlying(Prot::read | Prot::write), Spelling::protection},
                                              {std::to_underlying(MapFlags::shared), Spelling::map_flags},
                                              memfd,
                                              {file.cached}},
                                             memory));
  program::Access store;
  store.kind = AccessKind::store;
  store.address = std::make_unique<program::Expr>(kOwn, program::Variable{{static_cast<std::uint32_t>(slot)}, name});
  store.length = number(kOwn, added, 10);
  Statement written;
  written.node = std::move(store);
  statements().push_back(std::move(written));
  statements().push_back(call_statement(kOwn, Sys::munmap, {memory, {added}}, SpelledArgument{0}));
  file.cached = end;
}

std::uint64_t Space::descriptor_of(std::uint64_t id, std::uint64_t bytes, Making& making) {
  const auto found = files_.find(id);
  if (id == 0 || found == files_.end() || found->second.bytes == kNoPages) return ~std::uint64_t{0};
  FileState& file = found->second;
  if (!file.slot) {
    file.slot = making.slots.size();
    RecordedCall create;
    create.result.value = id;
    memory_.add(Sys::memfd_create, create, kOwn, making.tally, making.slots);
    truncate(id, file.bytes, making);
  }
  // Most files are small, and are mapped part by part.
  constexpr std::uint64_t kSmall = std::uint64_t{16} << 20U;
  cache(file, std::max(bytes, std::min(file.bytes, kSmall)), making);
  return id;
}

void Space::add_mapping(const Mapped& mapped, std::uint32_t origin, Making& making) {
  MemoryCall call;
  call.call = Call::mmap;
  call.arguments = {mapped.address, mapped.bytes, mapped.protection, mapped.flags, ~std::uint64_t{0}, mapped.offset};
  call.count = kMostArguments;
  call.result = mapped.address;
  call.file = mapped.file;
  add_call(call, origin, making);
}

void Space::add_call(const MemoryCall& recorded, std::uint32_t origin, Making& making) {
  run_.reset();
  const Position position{origin, 1};
  const auto& a = recorded.arguments;
  if (recorded.call == Call::mseal) {
    statements().push_back(call_statement(position, Sys::mseal, {{a[0], Spelling::address}, {a[1]}, {a[2]}}));
    return;
  }
  if (answered_by_qemu(recorded)) {
    statements().push_back(
        call_statement(position, Sys::madvise, {{a[0], Spelling::address}, {a[1]}, {a[2], Spelling::advice}}));
    return;
  }
  RecordedCall call;
  call.arguments = a;
  call.count = recorded.count;
  call.result = result_of(recorded.result);
  constexpr std::uint64_t kAnonymous = std::to_underlying(MapFlags::anonymous);
  if (recorded.call == Call::mmap && (a[3] & kAnonymous) == 0) {
    const std::uint64_t end = a[5] > ~a[1] ? ~std::uint64_t{0} : a[5] + a[1];
    call.arguments[4] = call.result.value ? descriptor_of(recorded.file, end, making) : ~std::uint64_t{0};
  }
  memory_.add(sys_of(recorded.call), call, position, making.tally, making.slots);
}

void Space::store_by_kernel(const Access& access, Position position) {
  statements().push_back(call_statement(
      position, Sys::read, {{kZeros, Spelling::variable, "zeros"}, {access.address, Spelling::address}, {access.bytes}},
      SpelledArgument{access.bytes}));
}

void Space::add_access(const Access& access, std::uint32_t origin, SiteIndex site) {
  const Position position{origin, 1};
  if (access.touch == Touch::kernel_store) {
    run_.reset();
    return store_by_kernel(access, position);
  }
  const std::uint64_t page = Addr{access.address}.page_floor().value;
  const bool goes_on = run_ && run_->statement + 1 == statements().size() && run_->touch == access.touch &&
                       run_->site == site && page == run_->first_page + run_->pages * kPageSize && access.bytes == 1;
  if (goes_on) {
    ++run_->pages;
    auto& whole = std::get<program::Access>(statements().back().node);
    whole.address = number(whole.address->position, run_->first_page, 16);
    whole.length = number(whole.address->position, run_->pages * kPageSize, 10);
    return;
  }
  program::Access one;
  one.kind = kind_of(access.touch);
  constexpr std::uint64_t kWord = 8;
  one.address = number(position, access.touch == Touch::atomic ? access.address & ~(kWord - 1) : access.address, 16);
  if (access.bytes > 1) one.length = number(position, access.bytes, 10);
  one.assertion = program::ExpectValue{number(position, 0, 10)};
  Statement statement;
  statement.position = position;
  statement.node = std::move(one);
  run_ = Run{statements().size(), access.touch, site, page, 1};
  if (access.bytes > 1) run_.reset();
  statements().push_back(std::move(statement));
}

void Space::add_refused(const Refused& refused, std::uint32_t origin) {
  const Position position{origin, 1};
  program::Access access;
  access.kind = kind_of(refused.touch);
  access.address = number(position, refused.address, 16);
  access.assertion = program::ExpectSignal{refused.signal, refused.code};
  Statement statement;
  statement.position = position;
  statement.node = std::move(access);
  run_.reset();
  statements().push_back(std::move(statement));
}

}  // namespace faultline::record
