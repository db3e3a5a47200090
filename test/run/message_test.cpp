// What travels between host and agent comes back whole, and no bytes whatever harm the reader.

#include "run/message.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <random>

#include "fake_kernel.h"
#include "program/printer.h"
#include "run/case.h"
#include "run/frame_io.h"

namespace faultline::run::test {
namespace {

/// Has every kind of statement and expression.
constexpr const char* kEverything = R"(# What travels
param pages = 32
let size = pages * PAGE | ~0x10 & !1
size = size % 7 - -3
a = mmap(NULL, size, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0)
f = memfd_create("heap", 0) = 3
mprotect(a, size, PROT_NONE) = -1 ENOMEM
code(a)
store(a, size, 8, 5) = SIGSEGV SEGV_ACCERR
atomic(a, size) at a
load(a) = 0
repeat 3 {
    for i in 0..pages {
        fetch(a + i)
    }
}
measure "cycle" repeat 4 {
    child "c" {
        getppid()
    }
    exit("c")
    threads 2 {
        load(a + thread)
    }
}
measure "once" {
    getppid()
}
expect faults("cycle") == 0 && count(splits, "once") <= 2 || value(a) != 1 on model:>=6.2, model:arm64/6.8+rmw=write-first, live
)";

Report sample_report() {
  Script script;
  script.signal = Signal{kSigSegv, -6, Addr{~std::uint64_t{0}}};
  Report report = execute("measure \"m\" repeat 4 {\n  brk(1) = 2\n}\nstore(PAGE)\n", script);
  report.machine = "live";
  report.kernel = "Linux";
  report.notes = {"one", ""};
  return report;
}

TEST(Message, AProgramArrivesAsItWasSent) {
  const program::Program program = parsed(kEverything);
  const std::string body = encode_request({"live", "x86-64", "6.18", ""}, program, {{"pages", 7}}, 1234);
  const std::optional<Request> request = decode_request(body);
  ASSERT_TRUE(request);
  EXPECT_EQ(program::print(request->program), program::print(program));
  EXPECT_EQ(encode_request(request->machine, request->program, request->params, request->time_limit_ms), body);
  EXPECT_EQ(request->params, (std::vector<std::pair<std::string, std::uint64_t>>{{"pages", 7}}));
  EXPECT_EQ(request->time_limit_ms, 1234U);
  EXPECT_EQ(request->machine.version, "6.18");
}

TEST(Message, AReportArrivesAsItWasSent) {
  const Report report = sample_report();
  const std::optional<Report> arrived = decode_report(encode(report));
  ASSERT_TRUE(arrived);
  EXPECT_EQ(encode(*arrived), encode(report));
  EXPECT_EQ(arrived->signal, report.signal);
  EXPECT_EQ(arrived->notes, report.notes);
  ASSERT_EQ(arrived->rows.size(), report.rows.size());
  EXPECT_EQ(arrived->rows[0].samples, (std::vector<double>{10, 10}));
  EXPECT_EQ(arrived->rows[0].counted, report.rows[0].counted);
  EXPECT_EQ(arrived->rows[0].known, report.rows[0].known);
  EXPECT_EQ(arrived->checks[0].detail, "returned 1, expected 2");
}

TEST(Message, NoPrefixOfAMessageIsAMessage) {
  const std::string request = encode_request({}, parsed(kEverything), {}, 1);
  for (std::size_t n = 0; n < request.size(); ++n) EXPECT_FALSE(decode_request(request.substr(0, n))) << n;
  const std::string report = encode(sample_report());
  for (std::size_t n = 0; n < report.size(); ++n) EXPECT_FALSE(decode_report(report.substr(0, n))) << n;
  EXPECT_FALSE(decode_request(request + "x"));
}

TEST(Message, MutatedMessagesAreRefusedOrReadButNeverHarm) {
  const std::string request = encode_request({}, parsed(kEverything), {{"pages", 1}}, 1);
  const std::string report = encode(sample_report());
  std::mt19937_64 random(2);
  int refused = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string mutated = round % 2 == 0 ? request : report;
    for (std::uint64_t edits = 1 + random() % 4; edits > 0; --edits) {
      const std::size_t at = random() % mutated.size();
      switch (random() % 3) {
        case 0:
          mutated[at] = static_cast<char>(random());
          break;
        case 1:
          mutated.erase(at, 1 + random() % 8);
          break;
        default:
          mutated.insert(at, 1 + random() % 8, static_cast<char>(random()));
          break;
      }
      if (mutated.empty()) mutated = "x";
    }
    if (const auto decoded = decode_request(mutated)) {
      // What is accepted can be walked: printing visits every node, the plan every statement.
      EXPECT_FALSE(program::print(decoded->program).empty());
      make_plan(decoded->program);
    } else {
      ++refused;
    }
    if (!decode_report(mutated)) ++refused;
  }
  EXPECT_GT(refused, 20'000);
}

std::vector<Case> sample_cases() {
  Case one{Range::of(Addr{0x200000000}, 16 * kPageSize), std::vector<CaseStep>(4)};
  one.steps[0] = {.kind = StepKind::call, .sys = program::Sys::mmap, .count = 6, .arguments = {1, 2, 3, 4, ~0UL, 0}};
  one.steps[1] = {.kind = StepKind::fork, .child = 3, .body = 1};
  one.steps[2] = {.kind = StepKind::access, .access = AccessKind::atomic, .arguments = {0x200000000, 7}};
  one.steps[3] = {.kind = StepKind::exit, .child = 3};
  return {one, {}};
}

TEST(Message, CasesArriveAsTheyWere) {
  const std::string body = encode_cases(sample_cases(), 250);
  const auto request = decode_cases(body);
  ASSERT_TRUE(request);
  EXPECT_EQ(request->time_limit_ms, 250U);
  EXPECT_EQ(encode_cases(request->cases, request->time_limit_ms), body);
  EXPECT_FALSE(decode_request(body)) << "cases are no program";
  for (std::size_t n = 0; n < body.size(); ++n) EXPECT_FALSE(decode_cases(body.substr(0, n))) << n;
}

TEST(Message, ABodyThatReachesBeyondItsParentIsRefused) {
  auto cases = sample_cases();
  cases[0].steps[1].body = 2;
  EXPECT_TRUE(decode_cases(encode_cases(cases, 1)));
  cases[0].steps[1].body = 3;
  EXPECT_FALSE(decode_cases(encode_cases(cases, 1)));
  cases[0].steps[1].body = 1;
  cases[0].steps[2] = {.kind = StepKind::fork, .body = 1};
  EXPECT_FALSE(decode_cases(encode_cases(cases, 1)));
}

TEST(Message, RecordsArriveAsTheyWere) {
  const std::vector<CaseRecord> records{
      {{StepEnding::error, 12, 3, 0xfeed}, {StepEnding::signal, signal_value(11, 2), 0, 1}}, {}};
  const auto arrived = decode_records(encode_records(records));
  ASSERT_TRUE(arrived);
  EXPECT_EQ(*arrived, records);
  EXPECT_FALSE(decode_records(encode_records(records) + "x"));
}

TEST(Message, RandomBytesAreNoMessage) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 20'000; ++round) {
    std::string bytes(random() % 200, '\0');
    std::ranges::generate(bytes, [&] { return static_cast<char>(random()); });
    static_cast<void>(decode_request(bytes));
    static_cast<void>(decode_report(bytes));
    static_cast<void>(decode_cases(bytes));
    static_cast<void>(decode_records(bytes));
  }
}

TEST(Message, DeepNestingIsRefusedInsteadOfOverflowingTheStack) {
  const std::string body = encode_request({}, parsed("let x = 77777\n"), {}, 0);
  // A number is its alternative's index 0, its value, its text; line and column stand before.
  const std::string number{'\0', '\xd1', '\xdf', '\4', '\5', '7', '7', '7', '7', '7'};
  const std::size_t found = body.find(number);
  ASSERT_NE(found, std::string::npos);
  // One more minus: line, column, alternative 4, operator 0, the operand is there.
  const std::string minus{'\1', '\1', '\4', '\0', '\1'};
  const auto nested = [&](int depth) {
    std::string deep = body;
    std::string minuses;
    for (int i = 0; i < depth; ++i) minuses += minus;
    deep.insert(found - 2, minuses);
    return deep;
  };
  const auto five = decode_request(nested(5));
  ASSERT_TRUE(five);
  EXPECT_NE(program::print(five->program).find("-----77777"), std::string::npos) << program::print(five->program);
  EXPECT_FALSE(decode_request(nested(200'000)));
}

TEST(Message, AMissingOperandOrAnUnknownSlotIsRefused) {
  program::Program program = parsed("let x = 1\nbrk(x)\n");
  program.slots.clear();
  EXPECT_FALSE(decode_request(encode_request({}, program, {}, 0)));
  program = parsed("repeat 2 {\n}\n");
  std::get<program::Repeat>(program.body[0].node).count = nullptr;
  EXPECT_FALSE(decode_request(encode_request({}, program, {}, 0)));
}

class Frames : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(pipe(ends_.data()), 0); }
  void TearDown() override {
    for (const int end : ends_) close(end);
  }
  void send(std::string_view bytes) { ASSERT_EQ(write(ends_[1], bytes.data(), bytes.size()), ssize_t(bytes.size())); }
  std::expected<std::string, ReadFault> receive() {
    return read_frame(ends_[0], std::chrono::steady_clock::now() + std::chrono::milliseconds(50));
  }
  std::array<int, 2> ends_{};
};

TEST_F(Frames, ABodyArrivesWhole) {
  ASSERT_TRUE(write_frame(ends_[1], "hello"));
  ASSERT_TRUE(write_frame(ends_[1], ""));
  EXPECT_EQ(receive(), "hello");
  EXPECT_EQ(receive(), "");
}

TEST_F(Frames, ADamagedBodyIsNoticed) {
  std::string bytes = frame("hello");
  bytes.back() ^= 1;
  send(bytes);
  EXPECT_EQ(receive().error(), ReadFault::damaged);
}

TEST_F(Frames, AnotherVersionIsToldApartFromRubbish) {
  std::string bytes = frame("hello");
  ++bytes[4];
  send(bytes);
  EXPECT_EQ(receive().error(), ReadFault::other_version);
}

TEST_F(Frames, RubbishAndAbsurdLengthsAreDamage) {
  send(std::string(kFrameHeader, 'x'));
  EXPECT_EQ(receive().error(), ReadFault::damaged);
  std::string bytes = frame("");
  bytes[15] = '\x7f';
  send(bytes.substr(0, kFrameHeader));
  EXPECT_EQ(receive().error(), ReadFault::damaged);
}

TEST_F(Frames, AnUnfinishedFrameIsATimeoutAndAClosedPipeIsClosed) {
  send(frame("hello").substr(0, kFrameHeader + 2));
  EXPECT_EQ(receive().error(), ReadFault::timeout);
  close(ends_[1]);
  ends_[1] = dup(ends_[0]);
  EXPECT_EQ(receive().error(), ReadFault::closed);
}

}  // namespace
}  // namespace faultline::run::test
