#pragma once

#include <chrono>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "check/checker.h"
#include "check/coverage.h"
#include "check/draw.h"

namespace faultline::check {

/// What is asked of a hunt for differences.
struct Hunt {
  mm::Profile profile;
  std::function<std::expected<std::unique_ptr<machine::Machine>, std::string>()> make_machine;
  std::uint64_t seed = 1;
  std::uint64_t programs = 0;                            // ends after so many
  std::optional<std::chrono::duration<double>> seconds;  // or, if given, after so long
  unsigned operations = 20;                              // of each
  Atomics atomics = Atomics::drawn;
  unsigned workers = 1;          // each with a machine of its own
  std::uint64_t together = 50;   // programs that a machine plays in one go
  Coverage* coverage = nullptr;  // takes down what the programs reach, at the cost of a second play
  std::function<bool()> stop;    // asked now and then
  std::function<void(std::uint64_t programs)> progress;  // told now and then how many were played
};

struct Catch {
  std::uint64_t programs = 0;
  std::uint64_t operations = 0;
  std::uint64_t disturbed = 0;      // programs that differed once and not again
  std::optional<Difference> first;  // of the earliest program that differs; as it was drawn
};

/// Plays programs until a difference is found or the hunt ends. Equal seeds give equal programs and the same first
/// difference, whatever the number of workers. The error says why the machine could not go on.
std::expected<Catch, std::string> hunt(const Hunt& asked);

}  // namespace faultline::check
