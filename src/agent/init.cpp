#include "agent/init.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/arch.h"
#include "agent/case_runner.h"
#include "agent/guest_config.h"
#include "agent/halt.h"
#include "agent/marks.h"
#include "agent/meter.h"
#include "agent/own_memory.h"
#include "agent/supervisor.h"
#include "run/message.h"

namespace faultline::agent {
namespace {

constexpr std::string_view kRequest = "opt/faultline/request";

void say(std::string_view text) {
  const std::string line = "faultline-agent: " + std::string(text) + "\n";
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line.data(), line.size());
}

void set(const char* file, std::string_view value) {
  const int opened = open(file, O_WRONLY | O_CLOEXEC);
  if (opened < 0) return;
  [[maybe_unused]] const ssize_t written = write(opened, value.data(), value.size());
  close(opened);
}

/// Lines such as "ffffffff81000000 T _stext", without data and without modules.
bool is_kernel_function(std::string_view line) {
  const std::size_t space = line.find(' ');
  if (space == std::string_view::npos || space + 1 >= line.size() || line.find('[') != std::string_view::npos)
    return false;
  return std::string_view("TtWw").find(line[space + 1]) != std::string_view::npos;
}

/// In messages of some size and then an empty one: what this process holds here would be copied by every fork, and
/// would lie in every snapshot.
void send_kernel_functions() {
  std::vector<char> buffer(1 << 15);  // not static: every process would have a copy of its own
  std::string functions;
  const int file = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC);
  std::size_t held = 0;
  for (ssize_t got = 0; file >= 0 && (got = read(file, buffer.data() + held, buffer.size() - held)) > 0;) {
    std::string_view rest(buffer.data(), held + static_cast<std::size_t>(got));
    functions.clear();
    for (std::size_t end = rest.find('\n'); end != std::string_view::npos; end = rest.find('\n')) {
      if (is_kernel_function(rest.substr(0, end))) functions.append(rest.substr(0, end + 1));
      rest.remove_prefix(end + 1);
    }
    held = rest.size();
    std::copy(rest.begin(), rest.end(), buffer.begin());
    if (!functions.empty()) send_message(run::frame(functions));
  }
  if (file >= 0) close(file);
  send_message(run::frame(""));
}

std::string hello() {
  utsname name{};
  uname(&name);
  return std::string(name.release) + "\n" + name.version + "\n";
}

void set_up() {
  mount("proc", "/proc", "proc", 0, nullptr);
  mount("sysfs", "/sys", "sysfs", 0, nullptr);
  if (mount("devtmpfs", "/dev", "devtmpfs", 0, nullptr) != 0)
    say("no devtmpfs (CONFIG_DEVTMPFS): /dev/zero is missing");
  // Huge pages where a program asks for them: what most systems have, and what the models have.
  set("/sys/kernel/mm/transparent_hugepage/enabled", "madvise");
  // Off, with all else, where a machine has less than 512 MiB.
  set("/sys/kernel/mm/transparent_hugepage/use_zero_page", "1");
  // Only what ends the kernel is worth a line on the console from here on.
  set("/proc/sys/kernel/printk", "1");
}

/// Before other processes of the kernel, which then run only while this one waits, and get the time to finish what they
/// are doing: no figure shall hold any of theirs.
void take_precedence() {
  set("/proc/sys/kernel/sched_rt_runtime_us", "-1");
  sched_param priority{};
  priority.sched_priority = 50;
  if (sched_setscheduler(0, SCHED_FIFO, &priority) != 0) say("this kernel gives no precedence (SCHED_FIFO)");
  sleep(5);
}

/// As in any process, a program's first descriptor is 3, and its standard ones lead nowhere.
void leave_console() {
  const int null = open("/dev/null", O_RDWR);
  if (null < 0) return;
  for (int standard = STDIN_FILENO; standard <= STDERR_FILENO; ++standard) {
    if (standard != null) dup2(null, standard);
  }
  if (null > STDERR_FILENO) close(null);
}

/// A program's limits bind, and its calls are refused, as those of any user. Until it sets one, there is none.
bool become_ordinary() {
  constexpr unsigned kUser = 1000;
  const rlimit unlimited{RLIM_INFINITY, RLIM_INFINITY};
  if (setrlimit(RLIMIT_MEMLOCK, &unlimited) != 0) return false;
  if (setresgid(kUser, kUser, kUser) != 0 || setresuid(kUser, kUser, kUser) != 0) return false;
  // Or /proc/self would not be this user's.
  return prctl(PR_SET_DUMPABLE, 1) == 0;
}

/// The body of what is asked; nothing when what came is damaged, or of another version.
std::optional<std::string> wait_for_request() {
  std::string frame;
  while (frame.size() < run::kFrameHeader) frame = read_configured_file(kRequest);
  const auto header = run::parse_frame_header(frame);
  std::string body = frame.substr(run::kFrameHeader);
  if (!header || header->length != body.size() || header->checksum != run::checksum(body)) return std::nullopt;
  return body;
}

std::string failure(const char* why) {
  run::Report report;
  report.ending = run::Ending::failed;
  report.detail = why;
  return run::encode(report);
}

/// What is to be sent back.
std::string answer(const std::optional<std::string>& body) {
  const auto cases = body ? run::decode_cases(*body) : std::nullopt;
  const auto request = body && !cases ? run::decode_request(*body) : std::nullopt;
  if (!cases && !request) return failure("the agent does not understand the request");
  arch::close_configuration();
  // Cases count from the limit down, and an emulated processor takes seconds to come near Linux's own.
  if (cases) set("/proc/sys/vm/max_map_count", "1000");
  if (!become_ordinary()) return failure("the agent could not give up its privileges");
  return cases ? play_cases(*cases) : run::encode(supervise(*request, Meter::counting()));
}

}  // namespace

void be_init() {
  keep_allocator_quiet();
  set_up();
  if (const char* missing = arch::open_configuration()) {
    say(std::string("this kernel has ") + missing);
    _exit(1);  // which is the end of the kernel, and of QEMU
  }
  send_message(run::frame(hello()));
  send_kernel_functions();
  leave_console();
  take_precedence();
  send_message(run::frame(find_halt() == Halt::exact ? "halts" : "runs"));
  halt();
  send_message(run::frame(answer(wait_for_request())));
  while (true) pause();
}

}  // namespace faultline::agent
