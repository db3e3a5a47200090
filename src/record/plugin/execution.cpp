#include "record/plugin/execution.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <iterator>
#include <string_view>

#include "record/plugin/image.h"

namespace faultline::record {
namespace {

std::string trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(" \t") - first + 1));
}

/// "#!/bin/sh -e" taken apart; nothing for other files.
std::optional<std::vector<std::string>> interpreter_of(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  std::array<char, 256> begin{};
  stream.read(begin.data(), begin.size());
  std::string_view line(begin.data(), static_cast<std::size_t>(stream.gcount()));
  if (!line.starts_with("#!")) return std::nullopt;
  line = line.substr(2, line.find('\n') == std::string_view::npos ? line.size() : line.find('\n') - 2);
  const std::string words = trimmed(line);
  const std::size_t blank = words.find_first_of(" \t");
  std::vector<std::string> interpreter{words.substr(0, blank)};
  // All that follows the name is one argument.
  if (blank != std::string::npos) interpreter.push_back(trimmed(std::string_view(words).substr(blank)));
  return interpreter;
}

}  // namespace

std::optional<Emulator> this_emulator(const std::string& program) {
  std::array<char, 4096> link{};
  const ssize_t length = readlink("/proc/self/exe", link.data(), link.size() - 1);
  std::ifstream stream("/proc/self/cmdline", std::ios::binary);
  if (length <= 0 || !stream) return std::nullopt;
  Emulator emulator{std::string(link.data(), static_cast<std::size_t>(length)), {}};
  std::vector<std::string> words;
  for (std::string word; std::getline(stream, word, '\0');) words.push_back(word);
  // QEMU's own options: each that it was started with here takes one argument.
  constexpr std::array<std::string_view, 2> kKept{"-plugin", "-L"};
  for (std::size_t i = 1; i + 1 < words.size() && words[i].starts_with('-') && words[i] != program; i += 2) {
    for (const std::string_view kept : kKept) {
      if (words[i] == kept) emulator.arguments.insert(emulator.arguments.end(), {words[i], words[i + 1]});
    }
  }
  return emulator;
}

std::optional<Executed> executed(Machine machine, const std::string& file, std::vector<std::string> arguments) {
  Executed result{file, std::move(arguments)};
  constexpr int kMostInterpreters = 5;  // as the kernel
  for (int i = 0; i < kMostInterpreters; ++i) {
    struct stat status{};
    if (stat(result.file.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
    if (access(result.file.c_str(), X_OK) != 0) return std::nullopt;
    if (const auto elf = ElfFile::read(result.file)) {
      if (elf->machine() != machine) return std::nullopt;
      return result;
    }
    const auto interpreter = interpreter_of(result.file);
    if (!interpreter || interpreter->front().empty()) return std::nullopt;
    std::vector<std::string> longer = *interpreter;
    longer.push_back(result.file);
    if (result.arguments.size() > 1) {
      longer.insert(longer.end(), result.arguments.begin() + 1, result.arguments.end());
    }
    result = {interpreter->front(), std::move(longer)};
  }
  return std::nullopt;
}

void execute(const Emulator& emulator, const Executed& executed, char* const* environment) {
  std::vector<const char*> words{emulator.path.c_str()};
  for (const std::string& word : emulator.arguments) words.push_back(word.c_str());
  if (!executed.arguments.empty()) {
    words.push_back("-0");
    words.push_back(executed.arguments.front().c_str());
  }
  words.push_back(executed.file.c_str());
  for (std::size_t i = 1; i < executed.arguments.size(); ++i) words.push_back(executed.arguments[i].c_str());
  words.push_back(nullptr);
  execve(emulator.path.c_str(), const_cast<char* const*>(words.data()), environment);
}

}  // namespace faultline::record
