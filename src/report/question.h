#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace faultline::report {

/// What can be asked of a recording.
enum class Question : std::uint8_t {
  calls,        // which memory calls, where, and what they cost
  faults,       // which accesses fault, where
  vmas,         // how many VMAs there are over time
  mappings,     // who made the VMAs that there are when there are most
  merges,       // why neighbours of equal permission are two VMAs then
  protections,  // which changes of protection, on how many pages
  policies,     // what would fail under a policy that forbids something
  seals,        // what never changes again, and from when on
  dirty,        // what it costs to know which pages it dirties
};

struct QuestionName {
  Question question;
  std::string_view name;   // as --what takes it
  std::string_view about;  // in a few words
};
std::span<const QuestionName> questions();

std::optional<Question> question_named(std::string_view name);

}  // namespace faultline::report
