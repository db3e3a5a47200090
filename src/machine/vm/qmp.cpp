#include "machine/vm/qmp.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <thread>

namespace faultline::machine::vm {
namespace {

using nlohmann::json;
using Deadline = std::chrono::steady_clock::time_point;

class Monitor {
 public:
  Monitor(int socket, Deadline deadline) : socket_(socket), deadline_(deadline) {}

  /// What the command returns.
  std::expected<json, std::string> execute(std::string_view command, const json& arguments = json::object(),
                                           int passed_file = -1) {
    const std::string text = json{{"execute", command}, {"arguments", arguments}}.dump() + "\n";
    if (!send(text, passed_file)) return std::unexpected("QEMU's monitor is gone");
    while (true) {
      const auto line = read_line();
      if (!line) return std::unexpected(line.error());
      const json answer = json::parse(*line, nullptr, false);
      if (!answer.is_object()) return std::unexpected("QEMU's monitor said something else than JSON");
      if (answer.contains("return")) return answer["return"];
      if (answer.contains("error"))
        return std::unexpected(answer["error"].value("desc", "QEMU refused " + std::string(command)));
      // The greeting, or an event.
    }
  }

  std::expected<void, std::string> wait_until_stopped() {
    while (true) {
      const auto about = execute("query-status");
      if (!about) return std::unexpected(about.error());
      if (!about->value("running", true)) return {};
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }

 private:
  bool send(std::string_view text, int passed_file) {
    iovec part{const_cast<char*>(text.data()), text.size()};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
    if (passed_file >= 0) {
      message.msg_control = control.data();
      message.msg_controllen = control.size();
      cmsghdr* header = CMSG_FIRSTHDR(&message);
      header->cmsg_level = SOL_SOCKET;
      header->cmsg_type = SCM_RIGHTS;
      header->cmsg_len = CMSG_LEN(sizeof(int));
      std::memcpy(CMSG_DATA(header), &passed_file, sizeof passed_file);
    }
    return sendmsg(socket_, &message, MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
  }

  std::expected<std::string, std::string> read_line() {
    for (std::size_t end = read_.find('\n'); true; end = read_.find('\n')) {
      if (end != std::string::npos) {
        std::string line = read_.substr(0, end);
        read_.erase(0, end + 1);
        return line;
      }
      const auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(deadline_ - std::chrono::steady_clock::now());
      pollfd ready{socket_, POLLIN, 0};
      if (left.count() <= 0 || poll(&ready, 1, static_cast<int>(left.count())) == 0) {
        return std::unexpected("QEMU's monitor does not answer");
      }
      std::array<char, 4096> buffer{};
      const ssize_t got = read(socket_, buffer.data(), buffer.size());
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return std::unexpected("QEMU's monitor is gone");
      read_.append(buffer.data(), static_cast<std::size_t>(got));
    }
  }

  int socket_;
  Deadline deadline_;
  std::string read_;
};

}  // namespace

std::expected<void, std::string> save_state(int socket, int file, Stops stops, Deadline deadline) {
  using namespace std::chrono_literals;
  constexpr std::uint64_t kAsFastAsItGoes = std::uint64_t{1} << 36;  // bytes a second
  Monitor monitor(socket, deadline);
  for (const auto& step : {std::pair{"qmp_capabilities", json::object()},
                           // Memory that is a shared file is no part of the state.
                           std::pair{"migrate-set-capabilities",
                                     json{{"capabilities", {{{"capability", "x-ignore-shared"}, {"state", true}}}}}},
                           std::pair{"migrate-set-parameters", json{{"max-bandwidth", kAsFastAsItGoes}}}}) {
    if (auto done = monitor.execute(step.first, step.second); !done) return std::unexpected(done.error());
  }
  if (stops == Stops::by_itself) {
    if (auto stopped = monitor.wait_until_stopped(); !stopped) return stopped;
  }
  if (auto done = monitor.execute("getfd", {{"fdname", "state"}}, file); !done) return std::unexpected(done.error());
  if (auto done = monitor.execute("migrate", {{"uri", "fd:state"}}); !done) return std::unexpected(done.error());
  while (true) {
    const auto about = monitor.execute("query-migrate");
    if (!about) return std::unexpected(about.error());
    const std::string status = about->value("status", "");
    if (status == "completed") return {};
    if (status == "failed" || status == "cancelled") {
      return std::unexpected("QEMU could not write the snapshot: " + about->value("error-desc", "status " + status));
    }
    if (std::chrono::steady_clock::now() > deadline) return std::unexpected("QEMU does not finish the snapshot");
    std::this_thread::sleep_for(5ms);
  }
}

}  // namespace faultline::machine::vm
