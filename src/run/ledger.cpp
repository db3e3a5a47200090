#include "run/ledger.h"

#include <algorithm>
#include <memory>
#include <new>
#include <string>

namespace faultline::run {
namespace {

/// Threads hold a record for a few instructions only, so waiting for it by spinning is enough.
class Guard {
 public:
  explicit Guard(std::atomic<std::uint32_t>& lock) : lock_(lock) {
    while (lock_.exchange(1, std::memory_order_acquire) != 0) {
    }
  }
  ~Guard() { lock_.store(0, std::memory_order_release); }
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

 private:
  std::atomic<std::uint32_t>& lock_;
};

constexpr std::size_t kAlign = 64;
constexpr std::size_t aligned(std::size_t bytes) { return (bytes + kAlign - 1) / kAlign * kAlign; }

/// How far ahead of the samples the ledger is touched.
constexpr std::uint64_t kChunksAhead = 256;

}  // namespace

std::size_t Ledger::bytes(const Plan& plan) {
  return aligned(sizeof(Head)) + aligned(plan.rows.size() * sizeof(RowRecord)) +
         aligned(plan.checks.size() * sizeof(CheckRecord)) + kChunks * sizeof(SampleChunk);
}

Ledger::Ledger(const Plan& plan, std::span<std::byte> memory) {
  std::byte* at = memory.data();
  head_ = new (at) Head;
  at += aligned(sizeof(Head));
  // Not array new: its cookie would not be accounted for. The chunks stay untouched until they are used.
  auto* rows = reinterpret_cast<RowRecord*>(at);
  std::uninitialized_default_construct_n(rows, plan.rows.size());
  at += aligned(plan.rows.size() * sizeof(RowRecord));
  auto* checks = reinterpret_cast<CheckRecord*>(at);
  std::uninitialized_default_construct_n(checks, plan.checks.size());
  at += aligned(plan.checks.size() * sizeof(CheckRecord));
  rows_ = {rows, plan.rows.size()};
  checks_ = {checks, plan.checks.size()};
  chunks_ = {reinterpret_cast<SampleChunk*>(at), kChunks};
}

void Ledger::add_sample(std::uint32_t row, double value) {
  RowRecord& record = rows_[row];
  const Guard guard(record.lock);
  if (record.samples >= kMostSamplesPerRow) {
    ++record.dropped;
    return;
  }
  SampleChunk* last = record.last_chunk == 0 ? nullptr : &chunks_[record.last_chunk - 1];
  if (last == nullptr || last->used == SampleChunk::kCapacity) {
    const std::uint64_t fresh = head_->chunks.fetch_add(1, std::memory_order_relaxed);
    if (fresh >= kChunks) {
      ++record.dropped;
      return;
    }
    const auto index = static_cast<std::uint32_t>(fresh + 1);
    (last == nullptr ? record.first_chunk : last->next) = index;
    record.last_chunk = index;
    last = &chunks_[fresh];
    last->next = 0;
    last->used = 0;
  }
  last->values[last->used++] = value;
  ++record.samples;
}

void Ledger::touch_ahead() {
  const std::uint64_t used = head_->chunks.load(std::memory_order_relaxed);
  const std::uint64_t wanted = std::min(kChunks, used + kChunksAhead);
  std::uint64_t next = std::max(head_->touched.load(std::memory_order_relaxed), used);
  for (; next < wanted; ++next) chunks_[next].touched.store(1, std::memory_order_relaxed);
  head_->touched.store(next, std::memory_order_relaxed);
}

void Ledger::touch_used() {
  for (RowRecord& row : rows_) const Guard guard(row.lock);
  for (CheckRecord& check : checks_) const Guard guard(check.lock);
  const std::uint64_t used = head_->touched.load(std::memory_order_relaxed);
  for (std::uint64_t i = 0; i < used; ++i) chunks_[i].touched.store(1, std::memory_order_relaxed);
}

void Ledger::passed_over(std::uint32_t check) {
  CheckRecord& record = checks_[check];
  const Guard guard(record.lock);
  record.status = CheckStatus::elsewhere;
  record.detail.assign("not for this machine");
}

void Ledger::evaluated(std::uint32_t check, CheckStatus status, std::string_view detail) {
  CheckRecord& record = checks_[check];
  const Guard guard(record.lock);
  const bool first = record.evaluations++ == 0;
  const bool worse = status == CheckStatus::failed && record.status != CheckStatus::failed;
  if (worse) {
    record.status = status;
    std::string text(detail);
    if (!first) text += " (evaluation " + std::to_string(record.evaluations) + ")";
    record.detail.assign(text);
  } else if (first) {
    record.status = status;
    record.detail.assign(detail);
  } else if (record.status == CheckStatus::skipped && status == CheckStatus::held) {
    record.status = status;
    record.detail.assign("");
  }
}

void Ledger::at(program::Position position) {
  head_->position.store(std::uint64_t{position.line} << 32 | position.column, std::memory_order_relaxed);
}

program::Position Ledger::position() const {
  const std::uint64_t packed = head_->position.load(std::memory_order_relaxed);
  return {static_cast<std::uint32_t>(packed >> 32), static_cast<std::uint32_t>(packed)};
}

void Ledger::end(Ending ending, program::Position position, std::string_view detail, std::optional<Signal> signal) {
  std::uint32_t running = 0;
  if (!head_->ended.compare_exchange_strong(running, 1, std::memory_order_acq_rel)) return;
  head_->ending = ending;
  head_->ended_at = position;
  head_->detail.assign(detail);
  head_->has_signal = signal ? 1 : 0;
  if (signal) head_->signal = *signal;
}

void Ledger::note(std::string_view text) {
  if (head_->notes < std::size(head_->note)) head_->note[head_->notes++].assign(text);
}

void Ledger::set_known(CounterSet known, Metric metric) {
  head_->known = known;
  head_->metric = metric;
}

CounterSet Ledger::known() const { return head_->known; }

std::vector<double> Ledger::samples_of(const RowRecord& record) const {
  std::vector<double> samples;
  samples.reserve(std::min(record.samples, kMostSamplesPerRow));
  // Bounded by the number of chunks, whatever a process that was killed in the middle left behind.
  std::uint64_t left = kChunks;
  for (std::uint32_t index = record.first_chunk; index != 0 && index <= kChunks && left > 0; --left) {
    const SampleChunk& chunk = chunks_[index - 1];
    const std::uint32_t used = std::min(chunk.used, SampleChunk::kCapacity);
    samples.insert(samples.end(), chunk.values, chunk.values + used);
    index = chunk.next;
  }
  return samples;
}

Report Ledger::report(const Plan& plan) const {
  Report report;
  report.ending = head_->ending;
  report.ended_at = head_->ended_at;
  report.detail = head_->detail.view();
  if (head_->has_signal != 0) report.signal = head_->signal;
  for (std::uint32_t i = 0; i < head_->notes; ++i) report.notes.emplace_back(head_->note[i].view());
  for (std::size_t i = 0; i < plan.rows.size(); ++i) {
    const RowRecord& record = rows_[i];
    Row row;
    row.kind = plan.rows[i].kind;
    row.line = plan.rows[i].line;
    row.text = plan.rows[i].text;
    row.measure = plan.rows[i].measure;
    row.calls = record.calls;
    row.failures = record.failures;
    row.samples = samples_of(record);
    row.metric = head_->metric;
    // A sum over some of the executions would be nobody's figure.
    if (row.metric == Metric::predicted && record.predictions > 0 && record.predictions == record.calls) {
      row.samples = {record.predicted / static_cast<double>(record.predictions)};
      row.error = record.predicted > 0 ? record.uncertainty / record.predicted : 0;
    }
    row.counted = record.counted;
    row.counted_calls = record.counted_calls;
    row.known = head_->known;
    row.before = record.before;
    row.after = record.after;
    if (record.dropped != 0) {
      report.notes.push_back("line " + std::to_string(row.line) + ": the first " + std::to_string(row.samples.size()) +
                             " samples are kept, " + std::to_string(record.dropped) + " more are not");
    }
    report.rows.push_back(std::move(row));
  }
  for (std::size_t i = 0; i < plan.checks.size(); ++i) {
    const CheckRecord& record = checks_[i];
    Check check{plan.checks[i].position, plan.checks[i].text, record.status, record.evaluations,
                std::string(record.detail.view())};
    if (check.evaluations == 0 && check.detail.empty()) check.detail = "never reached";
    report.checks.push_back(std::move(check));
  }
  return report;
}

}  // namespace faultline::run
