#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace faultline::program {

/// A machine's name taken apart: `model:arm64/6.8+rmw=write-first` is {model, arm64, 6.8, +rmw=write-first}.
/// `live` carries the running kernel's release as its version once the machine is known.
struct MachineId {
  std::string kind;      // model, live, vm
  std::string arch;      // x86-64, arm64
  std::string version;   // 6.12, 6.18.44; empty when unknown (vm:path/to/bzImage)
  std::string policies;  // "+upgrade=page-count+guards=absent", empty for a plain preset
};

/// What `expect … on PATTERN` names, one of
///   model  live  vm               every machine of that kind
///   model:arm64                   every machine of that kind and architecture
///   model:6.12  vm:arm64/6.12     exactly that one, policies included (x86-64 unless it says arm64/); a machine of
///                                 release 6.12.117 is a 6.12, one of 6.1 is not
///   model:>=6.2  live:<6.10       a range of versions, any architecture, without changed policies
///   model:arm64/>=6.13            the same, of one architecture
struct MachinePattern {
  enum class Relation { any, exactly, at_least, below };
  std::string kind;
  std::optional<std::string> arch;
  Relation relation = Relation::any;
  std::string version;
  std::string policies;

  bool matches(const MachineId& machine) const;
  std::string text() const;
};

/// Parses one pattern. When it is none, `expected` says what was.
std::optional<MachinePattern> parse_machine_pattern(std::string_view text, std::string& expected);

/// Compares dotted versions number by number: 6.2 < 6.12, and 6.12 == 6.12.117 as far as 6.12 goes.
bool version_at_least(std::string_view version, std::string_view least);

}  // namespace faultline::program
