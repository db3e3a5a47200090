#include "machine/vm/hmp.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <string>
#include <string_view>
#include <thread>

namespace faultline::machine::vm {
namespace {

void send_line(int monitor, std::string_view line) {
  const std::string text = std::string(line) + "\n";
  [[maybe_unused]] const ssize_t sent = send(monitor, text.data(), text.size(), MSG_NOSIGNAL);
}

/// What the monitor says after `mark` up to the line's end; empty when it says no more.
std::string answer_after(int monitor, std::string_view mark, std::string& said) {
  while (true) {
    const std::size_t at = said.find(mark);
    const std::size_t end = at == std::string::npos ? at : said.find('\n', at);
    if (end != std::string::npos) {
      std::string answer = said.substr(at + mark.size(), end - at - mark.size());
      said.erase(0, end);
      return answer;
    }
    constexpr int kPatience = 30'000;  // ms, on a machine that is overloaded
    pollfd ready{monitor, POLLIN, 0};
    if (poll(&ready, 1, kPatience) == 0) return {};
    std::array<char, 4096> buffer{};
    const ssize_t got = read(monitor, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return {};
    said.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

}  // namespace

void order_restore(int monitor, int descriptor) {
  send_line(monitor, "migrate_set_capability x-ignore-shared on");
  send_line(monitor, fmt::format("migrate_incoming fd:{}", descriptor));
}

void continue_restored(int monitor) {
  std::string said;
  while (true) {
    send_line(monitor, "info status");
    const std::string status = answer_after(monitor, "VM status: ", said);
    if (status.empty() || status.starts_with("running")) return;
    if (!status.contains("inmigrate")) return send_line(monitor, "cont");
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace faultline::machine::vm
