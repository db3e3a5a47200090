#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "export/c_export.h"

namespace faultline::exports {

/// The tables of a reproducer: its operations, with the figures of a machine, and its measure blocks.
class CTables {
 public:
  explicit CTables(const CExport& options) : options_(options) {}

  /// Its number. `measure` is that of the innermost block around it, or -1.
  std::size_t add_operation(std::uint32_t line, int measure, const std::string& title);
  /// Its number. `outer` is that of the next block around it, or -1.
  int add_measure(const std::string& name, int outer);

  /// The comment that a reproducer begins with.
  std::string heading(const std::string& answers) const;
  std::string text() const;

 private:
  const CExport& options_;
  std::vector<std::string> operations_;
  std::vector<std::string> measures_;
};

}  // namespace faultline::exports
