#include "run/case.h"

#include <utility>

#include "run/message.h"
#include "run/wire.h"

namespace faultline::run {
namespace {

template <class Archive>
void part(Archive& a, CaseStep& step) {
  transfer_enum(a, step.kind, StepKind::fill);
  transfer_number(a, step.sys, std::to_underlying(program::Sys::count_) - 1);
  transfer_enum(a, step.access, AccessKind::fetch);
  transfer_number(a, step.count, step.arguments.size());
  transfer_number(a, step.child, kMostCaseChildren);
  transfer(a, step.body);
  for (std::uint64_t& argument : step.arguments) transfer(a, argument);
}

template <class Archive>
void part(Archive& a, Case& one) {
  transfer(a, one.watched.start.value);
  transfer(a, one.watched.end.value);
  transfer_list(a, one.steps, [](Archive& inner, CaseStep& step) { part(inner, step); });
}

template <class Archive>
void part(Archive& a, CasesRequest& request) {
  transfer_list(a, request.cases, [](Archive& inner, Case& one) { part(inner, one); });
  transfer(a, request.time_limit_ms);
}

template <class Archive>
void part(Archive& a, StepRecord& record) {
  transfer_enum(a, record.outcome, StepEnding::unsupported);
  for (std::uint64_t* field : {&record.value, &record.minor_faults, &record.state, &record.flags}) {
    transfer(a, *field);
  }
}

/// Does every child's body lie inside its parent's?
bool well_formed(const Case& one) {
  std::vector<std::size_t> ends{one.steps.size()};
  for (std::size_t i = 0; i < one.steps.size(); ++i) {
    while (i >= ends.back() && ends.size() > 1) ends.pop_back();
    if (one.steps[i].kind != StepKind::fork) continue;
    if (one.steps[i].body > ends.back() - i - 1) return false;
    ends.push_back(i + 1 + one.steps[i].body);
  }
  return true;
}

}  // namespace

std::string encode_cases(const std::vector<Case>& cases, std::uint64_t time_limit_ms) {
  Writer writer;
  writer.integer(std::to_underlying(MessageKind::cases));
  CasesRequest request{cases, time_limit_ms};
  part(writer, request);
  return std::move(writer).take();
}

std::optional<CasesRequest> decode_cases(std::string_view body) {
  Reader reader(body);
  if (reader.integer() != std::to_underlying(MessageKind::cases)) return std::nullopt;
  std::optional<CasesRequest> request(std::in_place);
  part(reader, *request);
  if (!reader.good() || !reader.at_end()) return std::nullopt;
  for (const Case& one : request->cases) {
    if (!well_formed(one)) return std::nullopt;
  }
  return request;
}

std::string encode_records(const std::vector<CaseRecord>& records) {
  Writer writer;
  auto copy = records;
  transfer_list(writer, copy, [](Writer& outer, CaseRecord& record) {
    transfer_list(outer, record, [](Writer& inner, StepRecord& step) { part(inner, step); });
  });
  return std::move(writer).take();
}

std::optional<std::vector<CaseRecord>> decode_records(std::string_view body) {
  Reader reader(body);
  std::optional<std::vector<CaseRecord>> records(std::in_place);
  transfer_list(reader, *records, [](Reader& outer, CaseRecord& record) {
    transfer_list(outer, record, [](Reader& inner, StepRecord& step) { part(inner, step); });
  });
  if (!reader.good() || !reader.at_end()) return std::nullopt;
  return records;
}

}  // namespace faultline::run
