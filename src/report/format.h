#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

/// How numbers and words are written in tables: UTF-8, a comma between thousands, a true minus sign.
namespace faultline::report {

/// 1,234,567.
std::string thousands(std::uint64_t value);

/// With `decimals` places, "1,234.5"; a negative value begins with U+2212.
std::string decimal(double value, int decimals);

/// A figure per call: whole numbers as such, others with up to two decimals, "0.5", "1,024".
std::string per_call(std::uint64_t total, std::uint64_t calls);

/// A change by `ratio` in percent and always signed: "+66.2%", "−99.6%", "0.0%".
std::string percent_change(double ratio);

/// A spread as a fraction, "3%" or, below one percent, "0.4%".
std::string percent(double fraction);

/// "1 VMA", "1,000 VMAs".
std::string plural(std::uint64_t count, std::string_view one, std::string_view many);

/// Columns that a terminal gives the text: UTF-8 characters, each taken to be one wide.
std::size_t width(std::string_view text);

/// The text on one line of a terminal: control characters and broken UTF-8 become "?", and what is wider than
/// `most` columns ends in "…".
std::string printable(std::string_view text, std::size_t most);

}  // namespace faultline::report
