#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <vector>

#include "check/operation.h"
#include "machine/machine.h"
#include "mm/profile.h"

namespace faultline::check {

/// A program on which the model and the machine disagree, and how: "mprotect(…): returned 0, the model -1 EPERM".
struct Difference {
  Drawn played;
  std::string what;
};

/// Holds a model against a machine: plays programs on both and compares every result, signal, state and count of
/// faults.
class Checker {
 public:
  /// The machine outlives this object.
  Checker(mm::Profile profile, machine::Machine& against);

  /// The first program that differs whenever it is played, or nothing; or why the machine could not play them.
  std::expected<std::optional<Difference>, std::string> compare(const std::vector<Drawn>& programs);
  /// Takes operations away as long as a difference remains.
  std::expected<Difference, std::string> shrink(Difference difference);
  /// The program as a text of its own, which a person can run on the machine to see the difference.
  std::string reproducer(const Difference& difference) const;
  /// Programs that differed once and not again: something else on the machine had its hand in it, or a time limit.
  std::uint64_t disturbed() const { return disturbed_; }

 private:
  /// All that differ in one play.
  std::expected<std::vector<Difference>, std::string> play(const std::vector<Drawn>& programs);

  mm::Profile profile_;
  std::unique_ptr<machine::Machine> model_;
  machine::Machine& against_;
  std::uint64_t disturbed_ = 0;
};

}  // namespace faultline::check
