#include "run/message.h"

#include "run/wire_program.h"

namespace faultline::run {
namespace {

template <class Archive>
void part(Archive& a, Shape& shape) {
  for (std::optional<std::uint64_t>* field : {&shape.vmas, &shape.present, &shape.writable, &shape.huge}) {
    transfer_optional(a, *field, [](Archive& inner, std::uint64_t& value) { transfer(inner, value); });
  }
}

/// In words of 64.
template <class Archive>
void part(Archive& a, CounterSet& set) {
  constexpr std::size_t kWord = 64;
  for (std::size_t first = 0; first < kCounters; first += kWord) {
    std::uint64_t word = 0;
    for (std::size_t i = first; i < kCounters && i < first + kWord; ++i) {
      if (set.test(i)) word |= std::uint64_t{1} << (i - first);
    }
    transfer(a, word);
    if constexpr (Archive::kReading) {
      for (std::size_t i = first; i < kCounters && i < first + kWord; ++i) set.set(i, (word >> (i - first) & 1) != 0);
    }
  }
}

template <class Archive>
void part(Archive& a, Row& row) {
  transfer_enum(a, row.kind, RowKind::measure);
  transfer(a, row.line);
  transfer(a, row.text);
  transfer(a, row.measure);
  transfer(a, row.calls);
  transfer(a, row.failures);
  transfer_enum(a, row.metric, Metric::predicted);
  transfer_list(a, row.samples, [](Archive& inner, double& sample) { transfer(inner, sample); });
  for (std::uint64_t& value : row.counted.values) transfer(a, value);
  transfer(a, row.counted_calls);
  part(a, row.known);
  part(a, row.before);
  part(a, row.after);
}

template <class Archive>
void part(Archive& a, Check& check) {
  transfer(a, check.position);
  transfer(a, check.text);
  transfer_enum(a, check.status, CheckStatus::elsewhere);
  transfer(a, check.evaluations);
  transfer(a, check.detail);
}

template <class Archive>
void part(Archive& a, Signal& signal) {
  transfer(a, signal.number);
  transfer(a, signal.code);
  transfer(a, signal.addr.value);
  transfer(a, signal.pkey);
}

template <class Archive>
void part(Archive& a, Report& report) {
  transfer(a, report.machine);
  transfer(a, report.kernel);
  transfer_list(a, report.rows, [](Archive& inner, Row& row) { part(inner, row); });
  transfer_list(a, report.checks, [](Archive& inner, Check& check) { part(inner, check); });
  transfer_enum(a, report.ending, Ending::failed);
  transfer_optional(a, report.signal, [](Archive& inner, Signal& signal) { part(inner, signal); });
  transfer(a, report.ended_at);
  transfer(a, report.detail);
  transfer_list(a, report.notes, [](Archive& inner, std::string& note) { transfer(inner, note); });
}

template <class Archive>
void request_parts(Archive& a, program::MachineId& machine, program::Program& program,
                   std::vector<std::pair<std::string, std::uint64_t>>& params, std::uint64_t& time_limit_ms) {
  transfer(a, machine);
  transfer(a, program);
  transfer_list(a, params, [](Archive& inner, std::pair<std::string, std::uint64_t>& param) {
    transfer(inner, param.first);
    transfer(inner, param.second);
  });
  transfer(a, time_limit_ms);
}

/// A writer changes nothing; the parts take references that they may change because a reader does.
template <class T>
T& unchanged(const T& value) {
  return const_cast<T&>(value);
}

}  // namespace

std::string encode_request(const program::MachineId& machine, const program::Program& program,
                           const std::vector<std::pair<std::string, std::uint64_t>>& params,
                           std::uint64_t time_limit_ms) {
  Writer writer;
  writer.integer(std::to_underlying(MessageKind::program));
  request_parts(writer, unchanged(machine), unchanged(program), unchanged(params), time_limit_ms);
  return std::move(writer).take();
}

std::string encode(const Report& report) {
  Writer writer;
  part(writer, unchanged(report));
  return std::move(writer).take();
}

std::optional<Request> decode_request(std::string_view body) {
  Reader reader(body);
  if (reader.integer() != std::to_underlying(MessageKind::program)) return std::nullopt;
  std::optional<Request> request(std::in_place);
  request_parts(reader, request->machine, request->program, request->params, request->time_limit_ms);
  if (!reader.good() || !reader.at_end() || !well_formed(request->program)) return std::nullopt;
  return request;
}

std::optional<Report> decode_report(std::string_view body) {
  Reader reader(body);
  std::optional<Report> report(std::in_place);
  part(reader, *report);
  if (!reader.good() || !reader.at_end()) return std::nullopt;
  return report;
}

}  // namespace faultline::run
