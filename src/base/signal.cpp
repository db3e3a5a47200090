#include "base/signal.h"

#include <array>
#include <charconv>

namespace faultline {
namespace {

struct SignalName {
  int number;
  std::string_view name;
};
constexpr auto kSignals = std::to_array<SignalName>({
    {1, "SIGHUP"},       {2, "SIGINT"},     {3, "SIGQUIT"},  {4, "SIGILL"},     {5, "SIGTRAP"},        {6, "SIGABRT"},
    {kSigBus, "SIGBUS"}, {8, "SIGFPE"},     {9, "SIGKILL"},  {10, "SIGUSR1"},   {kSigSegv, "SIGSEGV"}, {12, "SIGUSR2"},
    {13, "SIGPIPE"},     {14, "SIGALRM"},   {15, "SIGTERM"}, {16, "SIGSTKFLT"}, {17, "SIGCHLD"},       {18, "SIGCONT"},
    {19, "SIGSTOP"},     {20, "SIGTSTP"},   {21, "SIGTTIN"}, {22, "SIGTTOU"},   {23, "SIGURG"},        {24, "SIGXCPU"},
    {25, "SIGXFSZ"},     {26, "SIGVTALRM"}, {27, "SIGPROF"}, {28, "SIGWINCH"},  {29, "SIGPOLL"},       {30, "SIGPWR"},
    {31, "SIGSYS"},
});

struct CodeName {
  int number;
  int code;
  std::string_view name;
};
constexpr auto kCodes = std::to_array<CodeName>({
    {kSigSegv, kSegvMapErr, "SEGV_MAPERR"},
    {kSigSegv, kSegvAccErr, "SEGV_ACCERR"},
    {kSigSegv, kSegvPkuErr, "SEGV_PKUERR"},
    {kSigBus, kBusAdrErr, "BUS_ADRERR"},
});

}  // namespace

std::string_view signal_name(int number) {
  for (const auto& s : kSignals) {
    if (s.number == number) return s.name;
  }
  return "SIG?";
}

std::optional<int> signal_named(std::string_view name) {
  for (const auto& s : kSignals) {
    if (s.name == name) return s.number;
  }
  return std::nullopt;
}

std::string_view signal_code_name(int number, int code) {
  for (const auto& c : kCodes) {
    if (c.number == number && c.code == code) return c.name;
  }
  return "code?";
}

std::optional<int> signal_code_named(std::string_view name) {
  for (const auto& c : kCodes) {
    if (c.name == name) return c.code;
  }
  return std::nullopt;
}

std::string to_string(const Signal& signal) {
  std::array<char, 16> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), signal.addr.value, 16).ptr;
  std::string text(signal_name(signal.number));
  text += ' ';
  text += signal_code_name(signal.number, signal.code);
  text += " at 0x";
  text.append(digits.data(), end);
  if (signal.number == kSigSegv && signal.code == kSegvPkuErr) text += ", key " + std::to_string(signal.pkey);
  return text;
}

}  // namespace faultline
