#include "program/strace_log.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "program/strace_line.h"

namespace faultline::program {
namespace {

Position moved(Position position, std::size_t columns) {
  position.column += static_cast<std::uint32_t>(columns);
  return position;
}

Position piece_position(const StraceJoined& joined, std::size_t offset) {
  const auto behind = std::ranges::upper_bound(joined.pieces, offset, {}, &StraceJoined::Piece::offset);
  const StraceJoined::Piece& piece = *std::prev(behind);  // the first begins at 0
  return moved(piece.position, offset - piece.offset);
}

/// Puts lines into events, and finds out whose those without a pid are: strace prints none as long as it follows a
/// single process.
class LogReader {
 public:
  StraceLog read(std::string_view text) {
    std::uint32_t number = 0;
    log_.events.reserve(static_cast<std::size_t>(std::ranges::count(text, '\n')) + 1);
    while (!text.empty()) {
      const std::size_t end = text.find('\n');
      log_.cut_at_end = end == std::string_view::npos;
      line(text.substr(0, end), {++number, 1});
      text.remove_prefix(log_.cut_at_end ? text.size() : end + 1);
    }
    // What was printed without a pid before the first process had one.
    for (StraceEvent& event : log_.events) {
      if (event.pid == 0) event.pid = main_;
    }
    drop_moved();
    return std::move(log_);
  }

 private:
  /// Strace's own message may break a line: "wait4(-1, strace: Process 7196 attached", and the rest on the next.
  void line(std::string_view text, Position start) {
    constexpr std::string_view kProcess = "strace: Process ";
    const std::size_t message = text.ends_with(" attached") ? text.rfind(kProcess) : std::string_view::npos;
    if (message == 0) return attach(read_strace_line(text).pid);
    if (message != std::string_view::npos) {
      if (broken_ == 0) {
        log_.joined.emplace_back();
        broken_ = static_cast<std::uint32_t>(log_.joined.size());
      }
      append(broken_, text.substr(0, message), start);
      return attach(read_strace_line(text.substr(message)).pid);
    }
    if (broken_ == 0) return whole_line(text, start, 0);
    const std::uint32_t joined = std::exchange(broken_, 0);
    append(joined, text, start);
    whole_line(log_.joined[joined - 1].text, start, joined);
  }

  void append(std::uint32_t joined, std::string_view text, Position start) {
    StraceJoined& whole = log_.joined[joined - 1];
    whole.pieces.push_back({whole.text.size(), start});
    whole.text += text;
  }

  void attach(std::uint32_t pid) {
    if (pid == 0) return;
    followed_.insert(pid);
    alive_.insert(pid);
    add({StraceEventKind::attached, pid, {}, {}, {}, 0, true});
  }

  void add(StraceEvent event) {
    note_child(event);
    log_.events.push_back(event);
  }

  /// With -q strace does not say that it follows a child.
  void note_child(const StraceEvent& event) {
    if (event.kind == StraceEventKind::call && is_strace_fork(event.name)) followed_.insert(forked_pid(event));
  }

  void whole_line(std::string_view text, Position start, std::uint32_t joined) {
    const StraceLine line = read_strace_line(text);
    const auto place = [&](std::string_view part) {
      const auto offset = static_cast<std::size_t>(part.data() - text.data());
      return joined == 0 ? moved(start, offset) : piece_position(log_.joined[joined - 1], offset);
    };
    switch (line.kind) {
      case StraceLineKind::blank:
      case StraceLineKind::remark:
        return;
      case StraceLineKind::attached:
        return attach(line.pid);
      case StraceLineKind::foreign:
        if (log_.foreign_lines++ == 0) log_.first_foreign = start;
        return;
      default:
        break;
    }
    const std::uint32_t pid = whose(line);
    const Position position = line.name.empty() ? start : place(line.name);
    switch (line.kind) {
      case StraceLineKind::exit:
        alive_.erase(pid);
        pending_.erase(pid);
        return add({StraceEventKind::exit, pid, position, {}, {}, 0, true});
      case StraceLineKind::signal:
        return add({StraceEventKind::signal, pid, position, line.name, {}, 0, true});
      case StraceLineKind::call:
        return add({StraceEventKind::call, pid, position, line.name, line.body, joined, true});
      case StraceLineKind::unfinished: {
        // A later piece makes it longer: the text moves to where it can grow.
        log_.joined.emplace_back();
        const auto grown = static_cast<std::uint32_t>(log_.joined.size());
        append(grown, line.body, place(line.body));
        pending_[pid] = log_.events.size();
        return add({StraceEventKind::call, pid, position, line.name, log_.joined.back().text, grown, false});
      }
      default:
        return resume(pid, line, position, place(line.body.empty() ? line.name : line.body));
    }
  }

  void resume(std::uint32_t pid, const StraceLine& line, Position position, Position body_position) {
    const auto found = pending_.find(pid);
    if (found == pending_.end() || log_.events[found->second].name != line.name) {
      return add({StraceEventKind::tail, pid, position, line.name, {}, 0, true});
    }
    const std::size_t index = found->second;
    append(log_.events[index].joined, line.body, body_position);
    StraceEvent event = log_.events[index];
    event.body = log_.joined[event.joined - 1].text;
    constexpr std::string_view kUnfinished = "<unfinished ...>";
    event.has_result = !event.body.ends_with(kUnfinished);
    if (!event.has_result) {
      log_.joined[event.joined - 1].text.resize(event.body.size() - kUnfinished.size());
      log_.events[index].body = log_.joined[event.joined - 1].text;
      return;
    }
    pending_.erase(found);
    if (event.name == "munmap" || is_strace_fork(event.name)) {
      log_.events[index] = event;
      note_child(event);
    } else {
      log_.events[index].name = {};
      add(event);
    }
  }

  /// The process that a line is about. Without a pid: the only one that is left, or the first.
  std::uint32_t whose(const StraceLine& line) {
    if (line.pid == 0) {
      const std::uint32_t pid = alive_.size() == 1 ? *alive_.begin() : main_;
      alive_.insert(pid);
      return pid;
    }
    if (alive_.insert(line.pid).second && main_ == 0 && alive_.contains(0) && !followed_.contains(line.pid)) {
      // An unknown pid is the first process's, unless that one is inside a call which this line does not end.
      const auto pending = pending_.find(0);
      const bool resumes = line.kind == StraceLineKind::resumed;
      const bool fits =
          pending == pending_.end() ? !resumes : resumes && log_.events[pending->second].name == line.name;
      if (fits) name_main(line.pid);
    }
    return line.pid;
  }

  void name_main(std::uint32_t pid) {
    main_ = pid;
    alive_.erase(0);
    if (const auto pending = pending_.find(0); pending != pending_.end()) {
      pending_[pid] = pending->second;
      pending_.erase(0);
    }
  }

  void drop_moved() {
    std::erase_if(log_.events, [](const StraceEvent& e) { return e.kind == StraceEventKind::call && e.name.empty(); });
  }

  StraceLog log_;
  std::uint32_t broken_ = 0;  // 1 + the joined text that the next line continues
  std::uint32_t main_ = 0;    // the first process's pid, once a line has said it
  std::unordered_set<std::uint32_t> alive_;
  std::unordered_set<std::uint32_t> followed_;              // children, and what strace said that it attached to
  std::unordered_map<std::uint32_t, std::size_t> pending_;  // by pid: the unfinished call
};

}  // namespace

Position StraceLog::position_in(const StraceEvent& event, std::size_t offset) const {
  if (event.joined == 0) return moved(event.position, event.name.size() + offset);
  const StraceJoined& whole = joined[event.joined - 1];
  return piece_position(whole, offset + static_cast<std::size_t>(event.body.data() - whole.text.data()));
}

StraceLog read_strace_log(std::string_view text) { return LogReader().read(text); }

bool is_strace_fork(std::string_view name) {
  return name == "clone" || name == "clone3" || name == "fork" || name == "vfork";
}

std::uint32_t forked_pid(const StraceEvent& event) {
  const std::size_t equals = event.body.rfind(" = ");
  if (!event.has_result || equals == std::string_view::npos) return 0;
  std::string_view result = event.body.substr(equals + 3);
  // "2 /* 7196 in strace's PID NS */"
  if (const std::size_t comment = result.find("/* "); comment != std::string_view::npos) {
    result = result.substr(comment + 3);
  }
  std::uint32_t pid = 0;
  std::from_chars(result.begin(), result.end(), pid);
  return pid;
}

}  // namespace faultline::program
