#pragma once

#include <string_view>

namespace faultline::cli {

/// One line on stderr that says what is running, and goes away when it is done. Nothing where stderr is no terminal.
class Progress {
 public:
  Progress();
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void show(std::string_view text);
  void clear();

 private:
  bool terminal_;
  bool shown_ = false;
};

}  // namespace faultline::cli
