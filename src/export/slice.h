#pragma once

#include <chrono>
#include <cstdint>
#include <expected>
#include <string>
#include <vector>

#include "export/trace.h"
#include "machine/machine.h"
#include "mm/profile.h"
#include "program/program.h"

namespace faultline::exports {

struct Request {
  const program::Program& program;
  const mm::Profile& profile;  // of the model that runs it, and whose figures the slice keeps
  const machine::Settings& settings;
  Choice choice;
  SiteOf site_of;                              // used where Choice::site is given
  std::string origin;                          // "ls.rec, steps 120-180": for the first line
  std::chrono::milliseconds patience{10'000};  // for making it small
};

struct Slice {
  std::string text;              // a program
  std::uint64_t chosen = 0;      // operations that it is about
  std::uint64_t left_out = 0;    // of those that were named
  std::uint64_t others = 0;      // operations and forks that set up what these need
  std::uint64_t considered = 0;  // that might have had a share
  std::uint64_t different = 0;   // chosen operations whose figures are not those of the whole program
};

/// The chosen operations as a program of their own, with as little of what happened before them to the same memory as
/// leaves each its result, its faults and its mappings on the model: what is taken away one by one and in groups until
/// nothing more can go, or patience ends. The error says what is wrong with the choice or how the program ended.
std::expected<Slice, std::string> make_slice(const Request& request);

}  // namespace faultline::exports
