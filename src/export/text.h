#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "export/descriptors.h"
#include "export/trace.h"

namespace faultline::exports {

/// May accesses to adjacent pages become one statement?
enum class JoinAccesses : std::uint8_t { no, yes };
/// Are the figures of the chosen operations asserted?
enum class Assert : std::uint8_t { results, figures };

/// A slice as a program's text.
struct SliceText {
  std::string text;
  std::vector<std::uint32_t> lines;  // of the chosen operations, in order
};

struct TextInput {
  const Trace& trace;
  const Descriptors& descriptors;
  const std::string& answers;  // the first line
};

/// The events with those numbers and the chosen ones, as a program: mappings are made where they were, results become
/// assertions. What a program chose near the top of the address space lies lower, out of the way of what a process has
/// there.
SliceText slice_text(const TextInput& input, const std::vector<std::size_t>& kept, JoinAccesses join, Assert assert);

}  // namespace faultline::exports
