#include "program/strace.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "program/parser.h"
#include "program/slot_order.h"
#include "program/strace_call.h"
#include "program/strace_log.h"
#include "program/strace_space.h"
#include "program/strace_tally.h"
#include "program/utf8.h"

namespace faultline::program {
namespace {

using SpaceIndex = std::size_t;
using ImageIndex = std::size_t;

/// An address space and where it belongs.
struct Space {
  RecordedSpace recorded;
  ImageIndex image = 0;
  std::optional<SpaceIndex> parent;  // of a forked child
  std::size_t block = 0;             // the child's block among the parent's statements
  unsigned depth = 0;                // forks above it
};

/// A process between two execves.
struct Image {
  std::uint32_t pid = 0;
  std::string id;
  std::string command;
  std::string parent;
  StraceTally tally;
  SpaceIndex root = 0;
  std::vector<std::string> slots;  // the program's variables
};

/// CLONE_VM: a thread, or a vfork's child, which has its parent's memory until it executes something else.
bool shares_memory(const StraceEvent& fork) {
  if (fork.name == "vfork" || fork.body.find("CLONE_VM") != std::string_view::npos) return true;
  constexpr std::string_view kRaw = "flags=0x";  // -X raw
  const std::size_t raw = fork.body.find(kRaw);
  if (raw == std::string_view::npos) return false;
  std::uint64_t flags = 0;
  std::from_chars(fork.body.data() + raw + kRaw.size(), fork.body.data() + fork.body.size(), flags, 16);
  constexpr std::uint64_t kCloneVm = 0x100;
  return (flags & kCloneVm) != 0;
}

bool succeeded(const StraceEvent& event) {
  const std::size_t equals = event.body.rfind(" = ");
  return event.has_result && equals != std::string_view::npos && event.body.substr(equals + 3).starts_with('0');
}

/// "execve("/usr/bin/ls", …": what was executed.
std::string executed(const StraceEvent& event) {
  const std::size_t open = event.body.find('"');
  if (open == std::string_view::npos) return {};
  std::string_view path = event.body.substr(open + 1);
  path = path.substr(0, path.find('"'));
  path = path.substr(0, path.find_last_not_of(" \t\r") + 1);
  // It becomes part of a comment. strace itself writes such bytes as escapes, but not everybody's logs are its own.
  std::string command(path);
  std::ranges::replace_if(command, [](char c) { return is_control(c) || static_cast<unsigned char>(c) >= 0x80; }, '?');
  return command;
}

/// Some calls are about memory only with certain arguments.
bool always_concerns_memory(Sys sys) { return sys != Sys::prctl && sys != Sys::ftruncate && sys != Sys::close; }

/// Is that the option of a prctl about memory: "(PR_SET_MDWE, …", or "(0x41 /* PR_??? */, …" by a strace that is too
/// old?
bool is_memory_option(std::string_view body) {
  constexpr auto kSpelled = std::to_array<std::string_view>({"(PR_SET_MDWE", "(PR_GET_MDWE", "(0x41", "(0x42"});
  return std::ranges::find(kSpelled, body.substr(0, body.find_first_of(" ,"))) != kSpelled.end();
}

bool is_exec(std::string_view name) { return name == "execve" || name == "execveat"; }

class Importer {
 public:
  Importer(std::string_view text, std::string name)
      : text_(text), name_(std::move(name)), log_(read_strace_log(text)) {}

  std::expected<StraceImport, Error> run() {
    if (log_.events.empty()) return nothing_of_strace();
    for (const StraceEvent& event : log_.events) {
      if (auto error = import(event)) return std::unexpected(std::move(*error));
    }
    return finish();
  }

 private:
  std::unexpected<Error> nothing_of_strace() const {
    const Position at = log_.foreign_lines == 0 ? Position{1, 1} : log_.first_foreign;
    return std::unexpected(
        error_at(text_, name_, at,
                 "no line here is of a strace log: expected one such as "
                 "'mmap(NULL, 8192, PROT_READ, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = 0x7f0df22f5000'"));
  }

  std::optional<Error> import(const StraceEvent& event) {
    switch (event.kind) {
      case StraceEventKind::attached:
        return std::nullopt;
      case StraceEventKind::exit:
        tasks_.erase(event.pid);
        return std::nullopt;
      case StraceEventKind::signal:
        if (const auto space = tasks_.find(event.pid); space != tasks_.end()) {
          ++tally_of(space->second).signals[event.name];
        }
        return std::nullopt;
      case StraceEventKind::tail:
        if (const auto sys = imported_call(event.name); sys && always_concerns_memory(*sys)) {
          ++tally_of(space_of(event, std::nullopt)).unfinished;
        }
        return std::nullopt;
      case StraceEventKind::call:
        break;
    }
    if (is_strace_fork(event.name)) {
      fork(event);
    } else if (is_exec(event.name)) {
      if (succeeded(event)) execute(event.pid, executed(event));
    } else if (const auto sys = imported_call(event.name); sys && concerns_memory(event, *sys)) {
      return memory_call(event, *sys);
    } else if (event.name != "exit" && event.name != "exit_group") {
      ++tally_of(space_of(event, std::nullopt)).skipped[event.name];
    }
    return std::nullopt;
  }

  /// Of calls that are not all about memory, those that are: on a memfd of this process, and prctl's of MDWE.
  bool concerns_memory(const StraceEvent& event, Sys sys) {
    if (always_concerns_memory(sys)) return true;
    if (sys == Sys::prctl) return is_memory_option(event.body);
    std::uint32_t fd = 0;
    const bool number =
        event.body.starts_with('(') &&
        std::from_chars(event.body.data() + 1, event.body.data() + event.body.size(), fd).ec == std::errc{};
    return number && spaces_[space_of(event, std::nullopt)].recorded.is_memfd(fd);
  }

  std::optional<Error> memory_call(const StraceEvent& event, Sys sys) {
    const bool last = &event == &log_.events.back();
    if (!event.has_result) {
      ++tally_of(space_of(event, std::nullopt)).unfinished;
      return std::nullopt;
    }
    const SysSignature& signature = sys_signatures()[static_cast<std::size_t>(sys)];
    const std::size_t most = is_raw_call(event.name) ? 6 : signature.most;
    auto call = read_recorded_call(event.body, signature.least, most, recorded_string_of(sys));
    if (!call) {
      if (last && log_.cut_at_end) {
        ++tally_of(space_of(event, std::nullopt)).unfinished;
        return std::nullopt;
      }
      return error_at(text_, name_, log_.position_in(event, call.error().offset), call.error().message);
    }
    call->count = std::min<std::size_t>(call->count, signature.most);
    std::optional<std::uint64_t> new_break;
    if (sys == Sys::brk && call->arguments[0] == 0) new_break = call->result.value;
    SpaceIndex index = space_of(event, new_break);
    if (new_break && spaces_[index].recorded.contradicts_break(*new_break)) {
      execute(event.pid, {});  // the log has no execve calls
      index = tasks_[event.pid];
    }
    Space& space = spaces_[index];
    active_ = index;
    if (space.depth >= kDeepest) {
      ++tally_of(index).too_deep;
    } else {
      space.recorded.add(sys, *call, event.position, tally_of(index), images_[space.image].slots);
    }
    return std::nullopt;
  }

  StraceTally& tally_of(SpaceIndex space) { return images_[spaces_[space].image].tally; }

  /// The address space that the caller of an event runs in. Of a pid whose beginning the log lacks: a new one, if it
  /// begins as a program does, with brk(NULL); else it is taken as a thread of the process last active.
  SpaceIndex space_of(const StraceEvent& event, std::optional<std::uint64_t> new_break) {
    if (const auto known = tasks_.find(event.pid); known != tasks_.end()) return known->second;
    const bool begins = new_break && !(active_ && spaces_[*active_].recorded.has_break(*new_break));
    if (begins || !active_) return tasks_[event.pid] = new_image(event.pid, {}, {});
    tally_of(*active_).strangers.insert(event.pid);
    return tasks_[event.pid] = *active_;
  }

  SpaceIndex new_image(std::uint32_t pid, std::string command, std::string parent) {
    const unsigned serial = ++images_of_[pid];
    std::string id = std::to_string(pid);
    if (serial > 1) id += "." + std::to_string(serial);
    spaces_.push_back({{}, images_.size(), std::nullopt, 0, 0});
    // Most logs are of one process; growing step by step would move each statement several times.
    if (images_.empty()) spaces_.back().recorded.statements().reserve(log_.events.size());
    images_.push_back({pid, std::move(id), std::move(command), std::move(parent), {}, spaces_.size() - 1, {}});
    return spaces_.size() - 1;
  }

  void execute(std::uint32_t pid, std::string command) {
    const auto known = tasks_.find(pid);
    if (known != tasks_.end()) {
      Image& image = images_[spaces_[known->second].image];
      const bool fresh = image.root == known->second && image.pid == pid && image.command.empty();
      if (fresh && spaces_[known->second].recorded.untouched()) {
        image.command = std::move(command);
        return;
      }
    }
    std::string parent = known == tasks_.end() ? "" : images_[spaces_[known->second].image].id;
    tasks_[pid] = new_image(pid, std::move(command), std::move(parent));
  }

  void fork(const StraceEvent& event) {
    const std::uint32_t child = forked_pid(event);
    const SpaceIndex parent = space_of(event, std::nullopt);
    if (child == 0 || child == event.pid) return;
    if (shares_memory(event)) {
      tasks_[child] = parent;
      return;
    }
    const unsigned depth = spaces_[parent].depth + 1;
    if (depth > kDeepest) {
      tasks_[child] = parent;
      return;
    }
    const std::size_t block = depth == kDeepest ? 0 : spaces_[parent].recorded.add_child(event.position);
    spaces_.push_back({spaces_[parent].recorded.forked(), spaces_[parent].image, parent, block, depth});
    tasks_[child] = spaces_.size() - 1;
  }

  StraceImport finish() {
    // A child comes behind its parent, so from the last on each child is complete when it is put into its block.
    for (SpaceIndex i = spaces_.size(); i-- > 0;) {
      Space& space = spaces_[i];
      if (!space.parent || space.depth >= kDeepest) continue;
      Statement& block = spaces_[*space.parent].recorded.statements()[space.block];
      std::get<Child>(block.node).body = std::move(space.recorded.statements());
    }
    StraceImport import;
    for (Image& image : images_) {
      if (image.tally.imported > 0) import.processes.push_back(process(image));
    }
    if (import.processes.empty()) {
      if (images_.empty()) new_image(log_.events.front().pid, {}, {});
      import.processes.push_back(process(images_.front()));
    }
    if (log_.foreign_lines > 0) {
      import.notes.push_back(
          std::to_string(log_.foreign_lines) + (log_.foreign_lines == 1 ? " line is" : " lines are") +
          " none of strace's and passed over, the first is line " + std::to_string(log_.first_foreign.line));
    }
    return import;
  }

  StraceProcess process(Image& image) {
    StraceProcess process;
    process.id = std::move(image.id);
    process.command = std::move(image.command);
    process.parent = std::move(image.parent);
    process.calls = image.tally.imported;
    process.program.name = name_;
    process.program.answers = "What strace recorded";
    if (!process.command.empty()) process.program.answers += " of " + process.command;
    if (image.pid != 0) process.program.answers += ", process " + process.id;
    process.program.body = std::move(spaces_[image.root].recorded.statements());
    process.program.slots = std::move(image.slots);
    order_slots(process.program);
    process.notes = strace_notes(image.tally);
    return process;
  }

  static constexpr unsigned kDeepest = kMaxBlockDepth;

  std::string_view text_;
  std::string name_;
  StraceLog log_;
  std::vector<Space> spaces_;
  std::vector<Image> images_;
  std::unordered_map<std::uint32_t, SpaceIndex> tasks_;    // by pid: where it runs
  std::unordered_map<std::uint32_t, unsigned> images_of_;  // by pid: how many
  std::optional<SpaceIndex> active_;                       // of the last call
};

}  // namespace

std::string StraceImport::others(std::size_t chosen) const {
  constexpr std::size_t kMostNamed = 6;
  const bool chose = chosen < processes.size();
  const std::size_t count = processes.size() - (chose ? 1 : 0);
  if (count == 0) return {};
  std::string text =
      "the log holds " + std::to_string(count) + (chose ? " more" : "") + (count == 1 ? " process: " : " processes: ");
  std::size_t named = 0;
  for (std::size_t i = 0; i < processes.size() && named < kMostNamed; ++i) {
    if (i == chosen) continue;
    const StraceProcess& other = processes[i];
    const std::string command = other.command.substr(other.command.rfind('/') + 1);
    text += (named++ == 0 ? "" : ", ") + other.id + " (" + (command.empty() ? "" : command + ", ") +
            std::to_string(other.calls) + (other.calls == 1 ? " call)" : " calls)");
  }
  if (count > kMostNamed) text += ", …";
  return text;
}

std::expected<StraceImport, Error> import_strace(std::string_view text, std::string name) {
  return Importer(text, std::move(name)).run();
}

}  // namespace faultline::program
