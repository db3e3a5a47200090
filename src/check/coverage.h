#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "check/operation.h"
#include "mm/profile.h"

namespace faultline::check {

/// What can happen: an operation, the argument that decides most about it (empty where none does), and an outcome:
/// "ok", an errno, an si_code, or for an access the kind of fault. The model's own decisions are operations named
/// "rule".
struct Cell {
  std::string operation;
  std::string argument;
  std::string outcome;
  auto operator<=>(const Cell&) const = default;
};

/// A cell that is expected and was never reached; `reason` where the profile or the checker cannot reach it.
struct Missing {
  Cell cell;
  std::string_view reason;
};

/// Which cells of the model programs reach. Whether a difference could have been found at all is decided by this.
class Coverage {
 public:
  explicit Coverage(mm::Profile profile) : profile_(std::move(profile)) {}

  /// Plays the programs on the model and takes down what happens.
  void add(const std::vector<Drawn>& programs);
  void add(const Coverage& other);

  const mm::Profile& profile() const { return profile_; }
  const std::map<Cell, std::uint64_t>& seen() const { return seen_; }
  /// What was expected (sections C and D of docs/kernel-semantics.md, and every rule of the model) and not seen.
  std::vector<Missing> missing() const;

 private:
  mm::Profile profile_;
  std::map<Cell, std::uint64_t> seen_;
};

/// For people: a line per operation and argument with its outcomes and how often each was seen, then what was not.
std::string coverage_text(const Coverage& coverage);
/// For programs: {"profile", "cells": [{"operation", "argument", "outcome", "times"}], "missing": […, "reason"]}.
std::string coverage_json(const Coverage& coverage);

}  // namespace faultline::check
