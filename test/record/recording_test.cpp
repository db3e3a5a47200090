// The file format: what is written is read, and nothing else is taken for a recording.
#include <gtest/gtest.h>

#include "harness.h"
#include "program/equal.h"
#include "program/parser.h"
#include "program/printer.h"
#include "record/recording.h"
#include "record/writer.h"

namespace faultline::record {
namespace {

std::string recorded(const std::string& name) { return read_file(std::string(FAULTLINE_RECORDINGS) + "/" + name); }

/// A recording of these records, byte by byte, as process 1.
std::string recording_of(std::initializer_list<int> bytes) {
  std::string records{1, 1};
  for (const int byte : bytes) records.push_back(static_cast<char>(byte));
  return recording_header() + recording_frame(records) + recording_frame({});
}

std::string error_of(std::string_view bytes) {
  const auto import = import_recording(bytes, "test.rec");
  return import ? "" : import.error();
}

// Kind, machine, length of the path, the path.
#define START 2, 1, 2, '/', 'a'

TEST(Recording, IsReadAsItWasWritten) {
  std::vector<Record> records;
  const auto closing =
      read_recording(recording_of({START, 3, 5, 0x80, 0x20, 1, 'f', 4, 1, 0, 7, 6, 0, 1, 0x81, 0x20, 1, 1, 10, 0, 3}),
                     [&](std::uint32_t pid, Record& record) {
                       EXPECT_EQ(pid, 1U);
                       records.push_back(record);
                       return std::string();
                     });
  ASSERT_TRUE(closing.has_value()) << closing.error();
  EXPECT_EQ(*closing, Closing::complete);
  ASSERT_EQ(records.size(), 5U);
  EXPECT_EQ(std::get<Start>(records[0]).path, "/a");
  EXPECT_EQ(std::get<File>(records[1]).bytes, 4096U);
  EXPECT_EQ(std::get<Site>(records[2]).address, 7U);
  EXPECT_EQ(std::get<Access>(records[3]).address, 4097U);
  EXPECT_EQ(std::get<Access>(records[3]).touch, Touch::store);
  EXPECT_EQ(std::get<Ended>(records[4]).status, 3U);
}

TEST(Recording, EveryFlippedBitIsAnError) {
  const std::string whole = recorded("true.rec");
  ASSERT_EQ(error_of(whole), "");
  for (std::size_t i = 0; i < whole.size(); ++i) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      std::string flipped = whole;
      flipped[i] = static_cast<char>(flipped[i] ^ 1 << bit);
      // Its version has no sum: a recording of the first may be one of the third.
      if (i == 8 && flipped[i] == 3) continue;
      ASSERT_NE(error_of(flipped), "") << "bit " << bit << " of byte " << i;
    }
  }
}

TEST(Recording, EveryCutIsAnErrorButBetweenFrames) {
  const std::string whole = recorded("true.rec");
  std::size_t readable = 0;
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const auto import = import_recording(std::string_view(whole).substr(0, length), "test.rec");
    if (!import) continue;
    ++readable;
    ASSERT_FALSE(import->notes.empty());
    EXPECT_EQ(import->notes.front(), "the recording has no end: whoever wrote it was stopped");
  }
  // What lacks only the empty frame at its end.
  EXPECT_GE(readable, 1U);
  EXPECT_NE(error_of(whole + "x"), "");
}

TEST(Recording, HostileRecordsAreErrors) {
  EXPECT_NE(error_of(""), "");
  EXPECT_NE(error_of("store(0, 1)\n"), "");
  EXPECT_EQ(error_of(recording_of({START})), "");
  EXPECT_EQ(error_of(recording_header() + recording_frame({})), "the recording holds no process");
  const auto wrong = [](std::initializer_list<int> bytes) { return error_of(recording_of(bytes)); };
  EXPECT_NE(wrong({6, 0, 1, 1, 1, 0}), "") << "before the start";
  EXPECT_NE(wrong({2, 3, 0}), "") << "of no machine";
  EXPECT_NE(wrong({2, 1, 0x7f, 'a'}), "") << "a path longer than its frame";
  EXPECT_NE(wrong({START, 99}), "") << "of no kind";
  EXPECT_NE(wrong({START, 6, 0, 1, 1, 1}), "") << "without its last field";
  EXPECT_NE(wrong({START, 6, 0, 5, 1, 1, 0}), "") << "touched in no way";
  EXPECT_NE(wrong({START, 6, 0, 1, 1, 0, 0}), "") << "of no byte";
  EXPECT_NE(wrong({START, 6, 0, 1, 1, 1, 1}), "") << "at a site that is none";
  EXPECT_NE(wrong({START, 4, 2, 0, 1}), "") << "a site out of turn";
  EXPECT_NE(wrong({START, 4, 1, 1, 1}), "") << "a site that calls itself";
  EXPECT_NE(wrong({START, 7, 0, 0, 0, 0, 0, 0}), "") << "no call";
  EXPECT_NE(wrong({START, 7, 0, 1, 0, 7}), "") << "seven arguments";
  EXPECT_NE(wrong({START, 7, 0, 14, 0, 1, 0, 0, 1}), "") << "a file that is none";
  EXPECT_NE(wrong({START, 9, 5, 1}), "") << "of no fork";
  EXPECT_EQ(wrong({START, 14, 0, 1, 1, 0, 11, 2}), "");
  EXPECT_NE(wrong({START, 14, 0, 2, 1, 0, 11, 2}), "") << "an atomic that was refused, which is told of as a store";
  EXPECT_NE(wrong({START, 14, 0, 1, 1, 0, 9, 2}), "") << "refused by another signal";
  EXPECT_NE(wrong({START, 14, 0, 1, 1, 0, 11, 0}), "") << "refused for no reason";
  EXPECT_NE(wrong({START, 14, 0, 1, 1, 1, 11, 2}), "") << "refused at a site that is none";
  EXPECT_NE(wrong({START, 6, 0, 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 1, 0}), "")
      << "a number of more than 64 bits";
}

TEST(Recording, ProgramsSurvivePrinting) {
  for (const char* name : {"true.rec", "pipe.rec"}) {
    const auto import = import_recording(recorded(name), name);
    ASSERT_TRUE(import.has_value()) << import.error();
    for (const RecordedProcess& process : import->processes) {
      const auto again = program::parse(program::print(process.program), name);
      ASSERT_TRUE(again.has_value()) << program::render(again.error());
      EXPECT_TRUE(program::equal(process.program, *again));
    }
  }
}

TEST(Recording, RunsOnEveryModelOfItsArchitectureWithoutADifference) {
  const auto import = import_recording(recorded("pipe.rec"), "pipe.rec");
  ASSERT_TRUE(import.has_value()) << import.error();
  // sh -c 'true | cat': the shell with a child that did what is built in, and the one that became `cat`.
  ASSERT_EQ(import->processes.size(), 2U);
  for (std::size_t i = 0; i < import->processes.size(); ++i) {
    for (const char* profile : {"5.10", "6.1", "6.8", "6.12", "6.18", "7.3"}) {
      const Studied studied = study(*import, i, profile);
      EXPECT_EQ(studied.ending, run::Ending::completed) << profile;
      EXPECT_EQ(studied.differences, std::vector<std::string>{}) << profile;
      EXPECT_GT(studied.faults, 50U) << profile;
    }
  }
}

TEST(Recording, HoldsTheKernelsOwnCount) {
  const auto import = import_recording(recording_of({START, 13, 0x82, 1, 3, 2, 0x81, 1}), "test.rec");
  ASSERT_TRUE(import.has_value()) << import.error();
  ASSERT_TRUE(import->native.has_value());
  EXPECT_EQ(import->native->minor_faults, 130U);
  EXPECT_EQ(import->native->major_faults, 3U);
  EXPECT_EQ(import->native->perf, PerfCount::of_user_mode);
  EXPECT_EQ(import->native->page_faults, 129U);
  const Native native{130, 3, PerfCount::of_user_mode, 129};
  EXPECT_EQ(native_record(native), std::string("\x0d\x82\x01\x03\x02\x81\x01", 7));
  EXPECT_NE(error_of(recording_of({START, 13, 1, 1, 3, 0})), "") << "counted in no way";
}

TEST(Recording, OfTheFirstVersionIsStillRead) {
  // true.rec was written by it.
  EXPECT_EQ(recorded("true.rec")[8], 1);
  std::string newer = recorded("true.rec");
  newer[8] = 4;
  EXPECT_EQ(error_of(newer), "version 4 of the format; expected version 1 to 3");
}

TEST(Recording, OfVersionsBeforeTheThirdHoldsDevicesAsFilesWithoutBytes) {
  // A file of that many bytes, a shared mapping of it, and a load from its only page.
  const auto loads = [](std::uint32_t version, int bytes) {
    std::string recording = recording_of(
        {START, 3, 1, bytes, 0, 7, 0, 1, 0, 6, 0, 1, 1, 1, 0, 0, 0x80, 0x80, 8, 1, 6, 0, 0, 0x80, 0x80, 8, 1, 0});
    recording[8] = static_cast<char>(version);
    const auto import = import_recording(recording, "test.rec");
    EXPECT_TRUE(import.has_value()) << import.error();
    return import ? study(*import, 0, "6.18").differences.empty() : false;
  };
  EXPECT_TRUE(loads(3, 1));
  EXPECT_FALSE(loads(3, 0)) << "behind the end of an empty file";
  EXPECT_TRUE(loads(2, 0)) << "of a device";
}

TEST(Recording, AForkThatCameToNothingIsAnEmptyChild) {
  const auto import = import_recording(recording_of({START, 8, 0, 0, 1}), "test.rec");
  ASSERT_TRUE(import.has_value()) << import.error();
  EXPECT_EQ(study(*import, 0, "6.18").ending, run::Ending::completed);
}

}  // namespace
}  // namespace faultline::record
