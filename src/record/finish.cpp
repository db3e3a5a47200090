#include "record/finish.h"

#include <algorithm>
#include <utility>

#include "program/printer.h"
#include "program/slot_order.h"
#include "program/utf8.h"

namespace faultline::record {
namespace {

void print_titles(program::Block& block) {
  for (program::Statement& statement : block) {
    if (auto* child = std::get_if<program::Child>(&statement.node)) {
      print_titles(child->body);
    } else if (statement.text.empty()) {
      statement.text = program::print_title(statement);
    }
  }
}

void note_what_is_lacking(const Making& making, RecordedProcess& process) {
  const auto note = [&](std::uint64_t count, std::string_view what) {
    if (count > 0) process.notes.push_back(std::to_string(count) + " " + std::string(what));
  };
  std::uint64_t left_out = 0;
  std::string first;
  for (const auto& [call, count] : making.tally.left_out) {
    left_out += count;
    if (first.empty()) first = call;
  }
  if (left_out > 0) {
    note(left_out, "failed calls left out, as the recording lacks what decides the result, such as " + first);
  }
  note(making.tally.file_mappings, "mappings of devices taken as anonymous memory");
  note(making.tally.set_up, "ranges used that the recording never mapped; set up first as anonymous memory");
  note(making.tally.huge, "MAP_HUGETLB mappings taken with base pages");
  note(making.tally.keys, "pkey_mprotects taken as mprotect, without the key");
  note(making.capped_files, "mappings of files beyond their first GiB, where nothing is in the page cache");
  if (process.machine == Machine::arm64) {
    process.notes.emplace_back("recorded of a program for arm64: run it on model:arm64/…");
  }
}

}  // namespace

std::string printable(std::string_view path) {
  std::string text(path);
  std::ranges::replace_if(
      text, [](char c) { return program::is_control(c) || static_cast<unsigned char>(c) >= 0x80; }, '?');
  return text;
}

void finish(RecordedProcess& process, Making making, program::Block statements, const std::string& name) {
  process.program.name = name;
  process.program.answers = "What was recorded of " + process.path + ", process " + process.id;
  process.program.slots = std::move(making.slots);
  process.program.body = std::move(statements);
  order_slots(process.program);
  print_titles(process.program.body);
  note_what_is_lacking(making, process);
}

}  // namespace faultline::record
