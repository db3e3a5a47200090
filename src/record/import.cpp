#include "record/import.h"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/flags.h"
#include "program/parser.h"
#include "record/finish.h"
#include "record/space.h"

namespace faultline::record {
namespace {

using SpaceIndex = std::size_t;

struct PlacedSpace {
  Space space;
  std::size_t image = 0;
  std::optional<SpaceIndex> parent;  // of a forked child
  std::size_t block = 0;             // the child's block among the parent's statements
  unsigned depth = 0;
};

struct Image {
  RecordedProcess process;
  Making making;
  SpaceIndex root = 0;
};

/// What a process does at the moment.
struct Task {
  SpaceIndex space = 0;
  SiteNumbers sites;
};

/// A fork that has begun; its child takes it when it comes.
struct PendingFork {
  Task child;
  bool shares = false;  // vfork: the child is the same address space
  std::uint32_t origin = 0;
};

class Importer {
 public:
  explicit Importer(std::string name) : name_(std::move(name)) {}

  std::string take(std::uint32_t pid, Record& record) {
    return std::visit([&](auto& what) { return add(pid, what); }, record);
  }

  std::expected<Import, std::string> finish(Closing closing) {
    if (images_.empty()) return std::unexpected("the recording holds no process");
    nest_children();
    for (Image& image : images_) import_.processes.push_back(finished(image));
    if (closing == Closing::open) {
      import_.notes.emplace_back("the recording has no end: whoever wrote it was stopped");
    }
    if (lost_ > 0) import_.notes.push_back(std::to_string(lost_) + " KiB of records were lost");
    if (too_deep_ > 0) {
      import_.notes.push_back(std::to_string(too_deep_) +
                              " children taken for threads of their parents: too many forks in each other");
    }
    if (foreign_ > 0) {
      import_.notes.push_back(std::to_string(foreign_) + (foreign_ == 1 ? " program" : " programs") +
                              " executed that could not be recorded, such as " + foreign_path_);
    }
    return std::move(import_);
  }

 private:
  static constexpr std::size_t kMostProcesses = 100'000;

  static std::string before_start() { return "expected the start of the process first,"; }

  std::string add(std::uint32_t pid, Start& start) {
    if (images_.size() >= kMostProcesses) return "expected no more than 100,000 processes,";
    const auto known = tasks_.find(pid);
    Image image;
    if (known != tasks_.end()) {
      Image& before = image_of(known->second);
      image.process.parent = before.process.id;
      if (before.root == known->second.space) before.process.ending = ProcessEnding::executed;
    }
    const unsigned serial = ++images_of_[pid];
    image.process.id = std::to_string(pid) + (serial > 1 ? "." + std::to_string(serial) : "");
    image.process.path = printable(start.path);
    image.process.machine = start.machine;
    image.root = spaces_.size();
    spaces_.push_back({{}, images_.size(), std::nullopt, 0, 0});
    spaces_.back().space.begin(image.making);
    images_.push_back(std::move(image));
    import_.code.emplace_back();
    tasks_[pid] = Task{spaces_.size() - 1, {}};
    return {};
  }

  std::string add(std::uint32_t pid, File& file) {
    Task* task = task_of(pid);
    if (task == nullptr) return before_start();
    if (file.id == 0) return "expected a file's number above 0,";
    import_files_.try_emplace(key(*task, file.id), file.path);
    spaces_[task->space].space.add_file(file, image_of(*task).making);
    return {};
  }

  std::string add(std::uint32_t pid, const Site& site) {
    Task* task = task_of(pid);
    if (task == nullptr) return before_start();
    const auto caller = task->sites.find(site.caller);
    if (!caller) return "expected a caller that is a site,";
    const auto image = static_cast<std::uint32_t>(spaces_[task->space].image);
    const SiteIndex index = import_.sites.find({*caller, image, site.address});
    return task->sites.add(site.id, index) ? "" : "expected the next number of a site,";
  }

  std::string add(std::uint32_t pid, const Mapped& mapped) {
    Task* task = task_of(pid);
    if (task == nullptr) return before_start();
    PlacedSpace& space = spaces_[task->space];
    if (!space.space.knows_file(mapped.file)) return "expected a file that is known,";
    note_code(*task, mapped.file, mapped.address, mapped.bytes, mapped.protection, mapped.offset);
    Making& making = image_of(*task).making;
    if (auto wrong = new_origin({}); !wrong.empty()) return wrong;
    space.space.add_mapping(mapped, last_origin(), making);
    return {};
  }

  std::string add(std::uint32_t pid, const Access& access) {
    Task* task = task_of(pid);
    if (task == nullptr) return before_start();
    const auto site = task->sites.find(access.site);
    if (!site) return "expected a site that is known,";
    ++image_of(*task).process.accesses;
    if (auto wrong = new_origin({*site, false, access.touch, {}}); !wrong.empty()) return wrong;
    spaces_[task->space].space.add_access(access, last_origin(), *site);
    return {};
  }

  std::string add(std::uint32_t pid, const Refused& refused) {
    Task* task = task_of(pid);
    if (task == nullptr) return before_start();
    const auto site = task->sites.find(refused.site);
    if (!site) return "expected a site that is known,";
    ++image_of(*task).process.accesses;
    if (auto wrong = new_origin({*site, false, refused.touch, {}}); !wrong.empty()) return wrong;
    spaces_[task->space].space.add_refused(refused, last_origin());
    return {};
  }

  std::string add(std::uint32_t pid, const MemoryCall& call) {
    Task* task = task_of(pid);
    if (task == nullptr) return before_start();
    const auto site = task->sites.find(call.site);
    if (!site) return "expected a site that is known,";
    PlacedSpace& space = spaces_[task->space];
    if (!space.space.knows_file(call.file)) return "expected a file that is known,";
    if (call.call == Call::mmap) {
      note_code(*task, call.file, call.result, call.arguments[1], call.arguments[2], call.arguments[5]);
    }
    Image& image = image_of(*task);
    ++image.process.calls;
    if (auto wrong = new_origin({*site, true, {}, call.call}); !wrong.empty()) return wrong;
    space.space.add_call(call, last_origin(), image.making);
    return {};
  }

  std::string add(std::uint32_t pid, const Forking& fork) {
    Task* task = task_of(pid);
    if (task == nullptr) return before_start();
    constexpr std::uint64_t kCloneVm = 0x100;
    PendingFork pending;
    pending.shares = (fork.flags & kCloneVm) != 0;
    if (auto wrong = new_origin({}); !wrong.empty()) return wrong;
    pending.origin = last_origin();
    pending.child.sites = task->sites.fork();
    pending.child.space = task->space;
    const unsigned depth = spaces_[task->space].depth + 1;
    // A child is a block in a block, and those do not nest without end.
    if (!pending.shares && depth >= program::kMaxBlockDepth) {
      pending.shares = true;
      ++too_deep_;
    }
    if (!pending.shares) {
      PlacedSpace child;
      child.space = spaces_[task->space].space.forked();
      child.image = spaces_[task->space].image;
      child.parent = task->space;
      child.depth = depth;
      child.block = spaces_[task->space].space.add_child(pending.origin);
      ++image_of(*task).process.forks;
      spaces_.push_back(std::move(child));
      pending.child.space = spaces_.size() - 1;
    }
    // Only the newest fork of a process can still get a child, but for those of its other threads.
    forks_[{pid, fork.serial}] = std::move(pending);
    return {};
  }

  std::string add(std::uint32_t pid, const Forked& forked) {
    const auto pending = forks_.find({static_cast<std::uint32_t>(forked.parent), forked.serial});
    if (pending == forks_.end()) return "expected a fork that had begun,";
    tasks_[pid] = std::move(pending->second.child);
    forks_.erase(pending);
    return {};
  }

  std::string add(std::uint32_t pid, const Ended& ended) {
    Task* task = task_of(pid);
    if (task == nullptr) return before_start();
    Image& image = image_of(*task);
    if (image.root == task->space) {
      image.process.ending = ProcessEnding::exited;
      image.process.status = ended.status;
    }
    return {};
  }

  std::string add(std::uint32_t, const Foreign& foreign) {
    if (++foreign_ == 1) foreign_path_ = printable(foreign.path);
    return {};
  }

  std::string add(std::uint32_t, const Incomplete& incomplete) {
    lost_ += incomplete.kilobytes;
    return {};
  }

  std::string add(std::uint32_t, const Native& native) {
    import_.native = native;
    return {};
  }

  std::string new_origin(Origin origin) {
    if (import_.origins.size() >= 0xffff'fffeU) return "expected fewer records,";
    import_.origins.push_back(origin);
    return {};
  }
  std::uint32_t last_origin() const { return static_cast<std::uint32_t>(import_.origins.size()); }

  Task* task_of(std::uint32_t pid) {
    const auto found = tasks_.find(pid);
    return found == tasks_.end() ? nullptr : &found->second;
  }
  Image& image_of(const Task& task) { return images_[spaces_[task.space].image]; }

  using FileKey = std::pair<std::size_t, std::uint64_t>;
  FileKey key(const Task& task, std::uint64_t file) const { return {spaces_[task.space].image, file}; }

  void note_code(const Task& task, std::uint64_t file, std::uint64_t start, std::uint64_t bytes,
                 std::uint64_t protection, std::uint64_t offset) {
    const auto path = import_files_.find(key(task, file));
    const bool executable = (protection & std::to_underlying(Prot::exec)) != 0;
    if (!executable || path == import_files_.end() || bytes > ~start) return;
    import_.code[spaces_[task.space].image].push_back({start, start + bytes, offset, path->second});
  }

  /// A child comes behind its parent, so from the last on each is complete when it is put into its block.
  void nest_children() {
    for (SpaceIndex i = spaces_.size(); i-- > 0;) {
      PlacedSpace& child = spaces_[i];
      if (!child.parent) continue;
      program::Statement& block = spaces_[*child.parent].space.statements()[child.block];
      std::get<program::Child>(block.node).body = std::move(child.space.statements());
    }
  }

  RecordedProcess finished(Image& image) {
    record::finish(image.process, std::move(image.making), std::move(spaces_[image.root].space.statements()), name_);
    return std::move(image.process);
  }

  struct ForkHash {
    std::size_t operator()(const std::pair<std::uint32_t, std::uint64_t>& fork) const {
      return std::hash<std::uint64_t>()(fork.second << 32U ^ fork.first);
    }
  };

  std::string name_;
  Import import_;
  std::vector<PlacedSpace> spaces_;
  std::vector<Image> images_;
  std::unordered_map<std::uint32_t, Task> tasks_;          // by pid
  std::unordered_map<std::uint32_t, unsigned> images_of_;  // by pid
  std::unordered_map<std::pair<std::uint32_t, std::uint64_t>, PendingFork, ForkHash> forks_;
  std::map<FileKey, std::string> import_files_;
  std::uint64_t foreign_ = 0;
  std::string foreign_path_;
  std::uint64_t lost_ = 0;
  std::uint64_t too_deep_ = 0;
};

}  // namespace

const Origin* origin_of(const Import& recording, const program::Statement& statement) {
  const std::uint32_t line = statement.position.line;
  return line == 0 || line > recording.origins.size() ? nullptr : &recording.origins[line - 1];
}

std::expected<Import, std::string> import_recording(std::string_view bytes, const std::string& name) {
  Importer importer(name);
  const auto closing =
      read_recording(bytes, [&](std::uint32_t pid, Record& record) { return importer.take(pid, record); });
  if (!closing) return std::unexpected(closing.error());
  return importer.finish(*closing);
}

}  // namespace faultline::record
