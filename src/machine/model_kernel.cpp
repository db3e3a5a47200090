#include "machine/model_kernel.h"

#include <algorithm>
#include <utility>

#include "machine/process_calls.h"

namespace faultline::machine {
namespace {

using program::Sys;

run::CallOutcome outcome_of(const Result<Addr>& result) {
  if (result) return {result->value, {}, 0};
  return run::call_failure(result.error());
}

run::CallOutcome outcome_of(const Result<std::uint64_t>& result) {
  if (result) return {*result, {}, 0};
  return run::call_failure(result.error());
}

run::CallOutcome outcome_of(const Result<void>& result) {
  if (result) return {};
  return run::call_failure(result.error());
}

/// The number that begins soft-dirty tracking (proc_pid_clear_refs(5)).
constexpr int kSoftDirty = 4;

/// A key is an int.
int key_argument(std::uint64_t argument) { return static_cast<int>(static_cast<std::uint32_t>(argument)); }

/// Shows an observer the address space before and after an operation.
class Shown {
 public:
  Shown(mm::Observer* observer, const mm::AddressSpace& space) : observer_(observer), space_(space) {
    if (observer_ != nullptr) observer_->before(space_);
  }
  ~Shown() {
    if (observer_ != nullptr) observer_->after(space_);
  }
  Shown(const Shown&) = delete;
  Shown& operator=(const Shown&) = delete;

 private:
  mm::Observer* observer_;
  const mm::AddressSpace& space_;
};

/// A return, first byte first: what the access routines begin with.
std::uint8_t first_byte_of_code(arch::Arch arch) { return arch == arch::Arch::arm64 ? 0xc0 : 0xc3; }

}  // namespace

ModelKernel::ModelKernel(std::unique_ptr<mm::AddressSpace> space, CheckInvariants check_invariants,
                         mm::Observer* observer, cost::Prices* prices)
    : space_(std::move(space)), check_invariants_(check_invariants), observer_(observer), prices_(prices) {
  space_->observe(observer_);
}

std::optional<std::string> ModelKernel::unsupported(const run::CallRequest& call) const {
  if (auto what = files_.unsupported(space_->profile(), call)) return what;
  if (auto what = unsupported_process_call(call)) return what;
  switch (call.sys) {
    case Sys::mmap: {
      const auto flags = static_cast<MapFlags>(call.arguments[3]);
      if (has(flags, MapFlags::hugetlb)) return "an mmap with MAP_HUGETLB";
      return std::nullopt;
    }
    case Sys::munmap:
    case Sys::mprotect:
    case Sys::pkey_mprotect:
    case Sys::madvise:
    case Sys::mremap:
    case Sys::mseal:
    case Sys::mlock:
    case Sys::mlock2:
    case Sys::munlock:
    case Sys::mlockall:
    case Sys::munlockall:
    case Sys::msync:
    case Sys::mincore:
    case Sys::brk:
    case Sys::getppid:
    case Sys::open:
    case Sys::close:
    case Sys::memfd_create:
    case Sys::ftruncate:
    case Sys::read:
    case Sys::write:
    case Sys::lseek:
    case Sys::pipe2:
    case Sys::fcntl:
    case Sys::prlimit64:
    case Sys::prctl:
    case Sys::clear_refs:
    case Sys::userfaultfd:
    case Sys::ioctl:
    case Sys::io_uring_setup:
    case Sys::io_uring_register:
    case Sys::change_prot_numa:
    case Sys::pkey_alloc:
    case Sys::pkey_free:
    case Sys::pkey_set:
    case Sys::pkey_get:
      return std::nullopt;
    default:
      return std::string(program::sys_name(call.sys));
  }
}

template <class Outcome>
void ModelKernel::predict(Outcome& outcome, std::optional<cost::Operation> operation, const Counters& before) const {
  if (!operation) return;
  const auto prediction = prices_->predict(*operation, counters() - before);
  if (!prediction) return;
  outcome.amount = prediction->instructions;
  outcome.uncertainty = prediction->uncertainty;
}

run::CallOutcome ModelKernel::call(const run::CallRequest& call) {
  if (prices_ == nullptr) return perform(call);
  const Counters before = counters();
  run::CallOutcome outcome = perform(call);
  // What a call costs that is refused half way, no training program tells.
  if (!outcome.error) {
    predict(outcome, cost::operation_of(call.sys, std::span(call.arguments).first(call.count)), before);
  }
  return outcome;
}

run::CallOutcome ModelKernel::perform(const run::CallRequest& call) {
  const Shown shown(observer_, *space_);
  if (const auto outcome = files_.call(*space_, call)) return outcome_of(*outcome);
  if (const auto outcome = process_call(*space_, call)) return outcome_of(*outcome);
  const auto& a = call.arguments;
  const Addr addr{a[0]};
  switch (call.sys) {
    case Sys::mmap:
      return outcome_of(space_->mmap(addr, a[1], static_cast<Prot>(a[2]), static_cast<MapFlags>(a[3]),
                                     files_.find_memfd(a[4]), a[5]));
    case Sys::munmap:
      return outcome_of(space_->munmap(addr, a[1]));
    case Sys::mprotect:
      return outcome_of(space_->mprotect(addr, a[1], static_cast<Prot>(a[2])));
    case Sys::pkey_mprotect:
      return outcome_of(space_->pkey_mprotect(addr, a[1], static_cast<Prot>(a[2]), key_argument(a[3])));
    case Sys::pkey_alloc:
      return outcome_of(space_->pkey_alloc(a[0], static_cast<mm::PkeyRights>(a[1])));
    case Sys::pkey_free:
      return outcome_of(space_->pkey_free(key_argument(a[0])));
    case Sys::pkey_set:
      return outcome_of(space_->pkey_set(key_argument(a[0]), static_cast<mm::PkeyRights>(a[1])));
    case Sys::pkey_get:
      return outcome_of(space_->pkey_get(key_argument(a[0])));
    case Sys::madvise:
      return outcome_of(space_->madvise(addr, a[1], static_cast<Advice>(a[2])));
    case Sys::mremap:
      return outcome_of(space_->mremap(addr, a[1], a[2], static_cast<RemapFlags>(a[3]), Addr{a[4]}));
    case Sys::mseal:
      return outcome_of(space_->mseal(addr, a[1], a[2]));
    case Sys::mlock:
      return outcome_of(space_->mlock(addr, a[1]));
    case Sys::mlock2:
      return outcome_of(space_->mlock(addr, a[1], static_cast<LockFlags>(a[2])));
    case Sys::munlock:
      return outcome_of(space_->munlock(addr, a[1]));
    case Sys::mlockall:
      return outcome_of(space_->mlockall(static_cast<LockAllFlags>(a[0])));
    case Sys::munlockall:
      space_->munlockall();
      return {};
    case Sys::msync:
      return outcome_of(space_->msync(addr, a[1], static_cast<SyncFlags>(a[2])));
    case Sys::mincore:
      return outcome_of(space_->mincore(addr, a[1], Addr{a[2]}));
    case Sys::brk:
      return {space_->brk(addr).value, {}, 0};
    case Sys::clear_refs: {
      const auto cleared = space_->clear_refs(static_cast<int>(a[0]));
      tracks_soft_dirty_ |= cleared && static_cast<int>(a[0]) == kSoftDirty;
      return outcome_of(cleared);
    }
    case Sys::change_prot_numa:
      space_->numa_pass(Range::of(addr, page_ceil(a[1])));
      return {};
    case Sys::getppid:
      return {1, {}, 0};
    default:
      return outcome_of(Result<void>(fail(ENOSYS)));
  }
}

std::optional<Signal> ModelKernel::access_once(const run::AccessRequest& access, Addr addr) {
  if (access.text) {
    const auto executed = space_->fetch(*access.text);
    if (!executed) return executed.error();
  }
  switch (access.kind) {
    case AccessKind::load: {
      const auto loaded = space_->load(addr, access.text);
      return loaded ? std::nullopt : std::optional(loaded.error());
    }
    case AccessKind::store: {
      const auto stored = space_->store(addr, static_cast<std::uint8_t>(access.value));
      return stored ? std::nullopt : std::optional(stored.error());
    }
    case AccessKind::atomic: {
      const auto added = space_->atomic_add(addr, access.value, access.text);
      return added ? std::nullopt : std::optional(added.error());
    }
    case AccessKind::fetch: {
      const auto executed = space_->fetch(addr);
      return executed ? std::nullopt : std::optional(executed.error());
    }
  }
  return std::nullopt;
}

std::optional<Signal> ModelKernel::access_all(const run::AccessRequest& access) {
  const Shown shown(observer_, *space_);
  Addr addr = access.address;
  for (std::uint64_t i = 0; i < access.count; ++i, addr = addr + access.stride) {
    ++accesses_;
    if (const auto signal = access_once(access, addr)) return signal;
  }
  return std::nullopt;
}

run::AccessOutcome ModelKernel::access(const run::AccessRequest& access) {
  if (prices_ == nullptr) return {access_all(access), 0};
  const Counters before = counters();
  run::AccessOutcome outcome{access_all(access), 0};
  if (!outcome.signal) predict(outcome, cost::Operation::access, before);
  return outcome;
}

run::AccessOutcome ModelKernel::place_code(Addr addr) {
  const Shown shown(observer_, *space_);
  const auto stored = space_->store(addr, first_byte_of_code(space_->profile().arch));
  return {stored ? std::nullopt : std::optional(stored.error()), 0};
}

namespace {

constexpr std::pair<Counter, std::uint64_t mm::TreeWork::*> kTreeWork[] = {
    {Counter::tree_stores, &mm::TreeWork::stores},       {Counter::tree_nodes, &mm::TreeWork::nodes},
    {Counter::tree_entries, &mm::TreeWork::entries},     {Counter::tree_searched, &mm::TreeWork::searched},
    {Counter::tree_reserved, &mm::TreeWork::reserved},   {Counter::tree_splits, &mm::TreeWork::splits},
    {Counter::tree_joins, &mm::TreeWork::joins},         {Counter::tree_spans, &mm::TreeWork::spans},
    {Counter::tree_levels, &mm::TreeWork::levels},       {Counter::tree_gaps, &mm::TreeWork::gaps},
    {Counter::tree_rotations, &mm::TreeWork::rotations}, {Counter::tree_walked, &mm::TreeWork::walked},
    {Counter::cache_slots, &mm::TreeWork::cache_slots},
};

}  // namespace

Counters ModelKernel::counters() const {
  Counters counters = space_->counters();
  counters[Counter::accesses] = accesses_;
  const mm::TreeWork tree = space_->tree_work();
  for (const auto& [counter, part] : kTreeWork) counters[counter] = tree.*part;
  return counters;
}

run::KernelFailure ModelKernel::child(std::string_view name, const std::function<void(ModelKernel&)>& body) {
  std::unique_ptr<mm::AddressSpace> forked = space_->fork();
  if (forked == nullptr) return "fork: Cannot allocate memory";
  auto kernel = std::make_unique<ModelKernel>(std::move(forked), check_invariants_, observer_, prices_);
  kernel->files_ = files_;
  kernel->tracks_soft_dirty_ = tracks_soft_dirty_;
  body(*kernel);
  if (!name.empty()) children_.push_back({std::string(name), std::move(kernel)});
  return std::nullopt;
}

bool ModelKernel::exit_child(std::string_view name) {
  for (std::size_t i = children_.size(); i-- > 0;) {
    if (children_[i].name != name) continue;
    children_.erase(children_.begin() + static_cast<std::ptrdiff_t>(i));
    return true;
  }
  return false;
}

run::KernelFailure ModelKernel::threads(std::uint64_t count,
                                        const std::function<void(ModelKernel&, std::uint64_t)>& body) {
  // Each begins with the rights of the one that starts it, which keeps its own.
  const mm::Pkru rights = space_->rights();
  for (std::uint64_t i = 0; i < count; ++i) {
    body(*this, i);
    space_->run_with(rights);
  }
  return std::nullopt;
}

std::optional<std::string> ModelKernel::broken() const {
  if (check_invariants_ == CheckInvariants::never) return std::nullopt;
  return space_->check();
}

}  // namespace faultline::machine
