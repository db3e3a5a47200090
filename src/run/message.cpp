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
  std::uint64_t known = row.known.to_ullong();
  transfer(a, known);
  if constexpr (Archive::kReading) row.known = CounterSet(known);
  part(a, row.before);
  part(a, row.after);
}

template <class Archive>
void part(Archive& a, Check& check) {
  transfer(a, check.position);
  transfer(a, check.text);
  transfer_enum(a, check.status, CheckStatus::skipped);
  transfer(a, check.evaluations);
  transfer(a, check.detail);
}

template <class Archive>
void part(Archive& a, Signal& signal) {
  transfer(a, signal.number);
  transfer(a, signal.code);
  transfer(a, signal.addr.value);
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
void part(Archive& a, Request& request) {
  transfer(a, request.machine);
  transfer(a, request.program);
  transfer_list(a, request.params, [](Archive& inner, std::pair<std::string, std::uint64_t>& param) {
    transfer(inner, param.first);
    transfer(inner, param.second);
  });
  transfer(a, request.time_limit_ms);
}

template <class T>
std::string encode_any(const T& message) {
  Writer writer;
  // A writer changes nothing; `part` takes a reference that it may change because a reader does.
  part(writer, const_cast<T&>(message));
  return std::move(writer).take();
}

template <class T>
std::optional<T> decode_any(std::string_view body) {
  Reader reader(body);
  std::optional<T> message(std::in_place);
  part(reader, *message);
  if (!reader.good() || !reader.at_end()) return std::nullopt;
  return message;
}

}  // namespace

std::string encode(const Request& request) { return encode_any(request); }
std::string encode(const Report& report) { return encode_any(report); }

std::optional<Request> decode_request(std::string_view body) {
  std::optional<Request> request = decode_any<Request>(body);
  if (request && !well_formed(request->program)) return std::nullopt;
  return request;
}

std::optional<Report> decode_report(std::string_view body) { return decode_any<Report>(body); }

}  // namespace faultline::run
