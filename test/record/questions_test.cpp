// What `faultline report` answers, for recordings made by hand. Letters are sections of docs/kernel-semantics.md.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "made_recording.h"
#include "mm/profile.h"
#include "record/import.h"
#include "report/answers.h"
#include "report/recording_costs.h"
#include "report/recording_report.h"

namespace faultline::record {
namespace {

using report::Answer;
using report::Question;

constexpr std::uint64_t kPage = kPageBytes;
constexpr std::uint64_t kA = 0x10'0000'0000;  // where nothing else is

/// A recording, run on a model.
class Examined {
 public:
  explicit Examined(const MadeRecording& made, const std::string& profile = "6.18")
      : import_(*import_recording(made.bytes(), "made.rec")), profile_(*mm::parse_profile(profile)) {
    run_ = machine::explain(profile_, import_.processes[0].program, settings_, study_, study_);
    for (const run::Check& check : run_.checks) EXPECT_NE(check.status, run::CheckStatus::failed) << check.detail;
  }

  const report::StudyFigures& figures() const { return study_.figures(); }
  report::RecordingReport report() const { return {import_, import_.processes[0], study_.figures(), run_, 0}; }
  Symbols& symbols() { return symbols_; }

  Answer ask(Question question, const report::AnswerOptions& options = {}) {
    return report::answer(question, {import_, 0, profile_, settings_, symbols_}, study_.figures(), options);
  }
  /// The answer's data without its first line.
  std::string csv(Question question, const report::AnswerOptions& options = {}) {
    const std::string text = report::table_csv(ask(question, options).data);
    return text.substr(text.find('\n') + 1);
  }

 private:
  Import import_;
  mm::Profile profile_;
  machine::Settings settings_;
  Symbols symbols_{import_};
  report::RecordingStudy study_{import_, symbols_};
  run::Report run_;
};

TEST(Merges, NameTheAttributeThatKeepsNeighboursApart) {
  MadeRecording made;
  const auto one = made.site(0x1000);
  const auto other = made.site(0x2000);
  made.mmap(one, kA, kPage, kReadWrite);
  made.mmap(other, kA + kPage, kPage, kReadWrite, kNoReserve);   // D.1: NORESERVE and ACCOUNT
  made.mmap(one, kA + 2 * kPage, 2 * kPage, kReadWrite);         // the same again
  made.call(Call::madvise, other, {kA + 3 * kPage, kPage, 16});  // D.1: DONTDUMP
  made.mmap(one, kA + 4 * kPage, kPage, kRead);                  // of another permission
  EXPECT_EQ(Examined(made).csv(Question::merges),
            "1,rw-p,\"the flags differ: account, noreserve\",mmap,0x1000,mmap,0x2000\n"
            "1,rw-p,\"the flags differ: account, noreserve\",mmap,0x2000,mmap,0x1000\n"
            "1,rw-p,the flags differ: dontdump,mmap,0x1000,madvise,0x2000\n");
}

TEST(Merges, TellFilesAndOffsetsApart) {
  MadeRecording made;
  const auto site = made.site(0x1000);
  const auto file = made.file("/lib", 16 * kPage);
  const auto other = made.file("/other", 16 * kPage);
  const auto map = [&](std::uint64_t page, std::uint64_t of, std::uint64_t offset) {
    const std::uint64_t address = kA + page * kPage;
    made.call(Call::mmap, site, {address, kPage, kRead, kPrivate | kFixed, 3, offset * kPage}, address, of);
  };
  map(0, file, 0);
  map(1, file, 1);  // goes on where the first ends: one VMA
  map(2, file, 3);  // D.1: pgoff
  map(3, other, 4);
  Examined examined(made);
  EXPECT_EQ(examined.csv(Question::merges),
            "1,r--p,not the same file,mmap,0x1000,mmap,0x1000\n"
            "1,r--p,the offsets are not contiguous,mmap,0x1000,mmap,0x1000\n");
  // What the import maps to fill the files is not counted.
  EXPECT_EQ(examined.csv(Question::vmas), "1,1,65530\n3,2,65530\n4,3,65530\n");
  EXPECT_EQ(examined.csv(Question::mappings), "3,4,0,r--p,mmap,0x1000\n");
}

TEST(Protections, AreCountedByLengthPagesPresentChangeAndSite) {
  MadeRecording made;
  const auto make = made.site(0x1000);
  const auto flip = made.site(0x2000);
  made.mmap(make, kA, 6 * kPage, kReadWrite);
  made.touch(Touch::store, kA, make, 3);
  made.call(Call::mprotect, flip, {kA, 6 * kPage, kRead});
  made.call(Call::mprotect, flip, {kA, 5 * kPage, kReadWrite});
  made.call(Call::mprotect, flip, {kA, 6 * kPage, kNone});                                   // of two protections
  made.call(Call::mprotect, flip, {kA + 100 * kPage, kPage, kRead}, 0 - std::uint64_t{12});  // ENOMEM changes nothing
  // pages_from, pages_to, present_from, present_to, before, after, times, pages, present, PTEs changed, flushes, site
  EXPECT_EQ(Examined(made).csv(Question::protections),
            "4,7,2,3,mixed,---,1,6,3,3,1,0x2000\n"
            "4,7,2,3,r--,rw-,1,5,3,3,1,0x2000\n"  // x86-64 flushes when the write bit changes either way (A.3)
            "4,7,2,3,rw-,r--,1,6,3,3,1,0x2000\n");
}

TEST(Seals, CouldBeMadeOnceNothingThatTheyRefuseFollows) {
  MadeRecording made;
  const auto site = made.site(0x1000);
  made.mapped(kA, kPage, kRead, kPrivate | kAnonymous);
  made.mmap(site, kA + 10 * kPage, 2 * kPage, kReadWrite);           // call 1
  made.mmap(site, kA + 20 * kPage, kPage, kReadWrite);               // call 2
  made.call(Call::munmap, site, {kA + 11 * kPage, kPage});           // call 3: another page
  made.call(Call::madvise, site, {kA + 20 * kPage, kPage, 4});       // call 4: C.4 lets it discard what is writable
  made.call(Call::mprotect, site, {kA + 20 * kPage, kPage, kRead});  // call 5
  made.call(Call::madvise, site, {kA + 20 * kPage, kPage, 4});       // call 6: C.4 refuses
  made.call(Call::msync, site, {kA + 20 * kPage, kPage, 4});         // call 7: nothing that a seal refuses
  Examined examined(made);
  EXPECT_EQ(examined.csv(Question::seals),
            "0,1,1,r--,1,1,(mapped at the start),\n"
            "1,1,1,rw-,2,2,mmap,0x1000\n"
            "6,1,1,r--,3,3,madvise,0x1000\n");
  EXPECT_EQ(
      examined.ask(Question::seals).lines.front(),
      "3 VMAs of 3 pages at the end: half of them could be sealed after call 1, nine of ten after call 6, all after "
      "call 6");
}

/// A program that is loaded, and then goes on with what its loader mapped.
MadeRecording loaded() {
  MadeRecording made;
  const auto program = made.file("/made", 2 * kPage);
  made.mapped(kA, kPage, kReadExec, kPrivate, program);
  made.mapped(kA + kPage, kPage, kReadWrite, kPrivate, program, kPage);
  return made;
}

/// Lines "OPERATION,SITE,ENDING,TIMES,LATER" of one policy.
std::string refusals(const std::string& csv, const std::string& policy) {
  std::string lines;
  for (std::size_t at = 0; at < csv.size();) {
    const std::size_t end = csv.find('\n', at);
    const std::string line = csv.substr(at, end - at);
    if (line.starts_with(policy + ",")) lines += line.substr(policy.size() + 1) + "\n";
    at = end + 1;
  }
  return lines;
}

TEST(Policies, SealedMemoryIsNeitherUnmappedNorProtectedOtherwise) {
  MadeRecording made = loaded();
  const auto loader = made.site(0x1000);
  const auto main = made.site(0x2000);
  made.call(Call::mprotect, loader, {kA + kPage, kPage, kRead});
  made.touch(Touch::fetch, kA, main);                                // the program itself
  made.call(Call::mprotect, main, {kA + kPage, kPage, kReadWrite});  // EPERM (C.2)
  made.touch(Touch::store, kA + kPage, main);                        // SIGSEGV, as that was refused
  made.mmap(main, kA + 10 * kPage, kPage, kReadWrite);               // is not sealed
  made.call(Call::munmap, main, {kA + 10 * kPage, kPage});
  made.call(Call::munmap, main, {kA, kPage});  // EPERM
  Examined examined(made);
  EXPECT_EQ(refusals(examined.csv(Question::policies), "sealed"),
            "mprotect,0x2000,EPERM,1,1\nmunmap,0x2000,EPERM,1,0\n");
  // Before its first call: the loader's is refused too, and the next is another that changes nothing (C.3).
  report::AnswerOptions early;
  early.policies.sealed_after = 0;
  EXPECT_EQ(refusals(examined.csv(Question::policies, early), "sealed"),
            "mprotect,0x1000,EPERM,1,0\nmprotect,0x2000,EPERM,1,0\nmunmap,0x2000,EPERM,1,0\n");
  early.policies.sealed_after = 1;
  EXPECT_EQ(refusals(examined.csv(Question::policies, early), "sealed"),
            "mprotect,0x2000,EPERM,1,1\nmunmap,0x2000,EPERM,1,0\n");
}

TEST(Policies, WhatAModelDoesNotKnowIsSaidAndNotRun) {
  Examined examined(loaded(), "5.10");
  const Answer answer = examined.ask(Question::policies);
  const std::string overview = report::table_csv(*answer.overview);
  EXPECT_NE(overview.find("sealed,,,,,,,no mseal in Linux 5.10\n"), std::string::npos) << overview;
  EXPECT_NE(overview.find("MDWE,,,,,,,not in Linux 5.10\n"), std::string::npos) << overview;
  EXPECT_NE(overview.find("guards,,,,,,,not in Linux 5.10\n"), std::string::npos) << overview;
}

TEST(Policies, WritingAndExecuting) {
  MadeRecording made = loaded();
  const auto both = made.site(0x1000);
  const auto turns = made.site(0x2000);
  made.mmap(both, kA + 10 * kPage, kPage, kAll);
  made.touch(Touch::store, kA + 10 * kPage, both);
  made.mmap(turns, kA + 20 * kPage, kPage, kReadWrite);
  made.touch(Touch::store, kA + 20 * kPage, turns);
  made.call(Call::mprotect, turns, {kA + 20 * kPage, kPage, kReadExec});
  made.touch(Touch::fetch, kA + 20 * kPage, turns);
  made.call(Call::mprotect, turns, {kA + 20 * kPage, kPage, kReadWrite});
  made.call(Call::mprotect, turns, {kA + 20 * kPage, kPage, kReadExec});
  const std::string csv = Examined(made).csv(Question::policies);
  // D.5 and D.3: mmap and mprotect refuse with EACCES under PR_SET_MDWE. What was never mapped is SIGSEGV.
  EXPECT_EQ(refusals(csv, "MDWE"), "mmap,0x1000,EACCES,1,1\nmprotect,0x2000,EACCES,2,1\n");
  EXPECT_EQ(refusals(csv, "W^X"), "mmap,0x1000,EACCES,1,1\n");
}

TEST(Policies, TextThatCannotBeReadIsASignal) {
  MadeRecording made = loaded();
  const auto site = made.site(0x1000);
  made.touch(Touch::fetch, kA, site);
  made.touch(Touch::load, kA, site);  // B.2
  EXPECT_EQ(refusals(Examined(made).csv(Question::policies), "exec-only"), "load,0x1000,SIGSEGV,1,0\n");
}

TEST(Policies, MappingsBeyondALimitAreRefused) {
  MadeRecording made;
  const auto site = made.site(0x1000);
  for (std::uint64_t i = 0; i < 10; ++i) made.mmap(site, kA + 2 * i * kPage, kPage, kRead);
  report::AnswerOptions options;
  options.policies.map_limits = {10, 6};
  const std::string csv = Examined(made).csv(Question::policies, options);
  EXPECT_EQ(refusals(csv, "limit 10"), "");
  // D.2: refused when there are more than the limit, so that there is one more than it.
  EXPECT_EQ(refusals(csv, "limit 6"), "mmap,0x1000,ENOMEM,3,0\n");
}

TEST(Policies, GuardRegionsMakeNoMappingsAndKeepNoContents) {
  MadeRecording made;
  const auto site = made.site(0x1000);
  made.mmap(site, kA, 5 * kPage, kReadWrite);
  made.touch(Touch::store, kA, site, 5);
  made.call(Call::mprotect, site, {kA + 2 * kPage, kPage, kNone});
  made.call(Call::mprotect, site, {kA + 2 * kPage, kPage, kReadWrite});
  made.touch(Touch::load, kA + 2 * kPage, site);  // D.7: the guard has dropped the page
  Examined examined(made);
  const std::string overview = report::table_csv(*examined.ask(Question::policies).overview);
  // policy, fails, later, VMAs at most, faults, dropped, missed
  EXPECT_NE(overview.find("none,0,0,3,5,0,0,"), std::string::npos) << overview;
  EXPECT_NE(overview.find("guards,0,0,1,6,1,1,"), std::string::npos) << overview;
}

/// Four pages that are written to in one interval, and the first two again in the next.
MadeRecording dirties() {
  MadeRecording made;
  const auto site = made.site(0x1000);
  const auto again = made.site(0x2000);
  made.mmap(site, kA, 4 * kPage, kReadWrite);
  made.touch(Touch::store, kA, site, 4);
  made.touch(Touch::store, kA, again, 2);
  return made;
}

/// The line of one tracker: tracker, VMAs at most, note, intervals, tracked pages, dirty, exceptions, handler runs,
/// calls, PTEs changed, flushes.
std::string of_tracker(const std::string& csv, const std::string& tracker) {
  const std::size_t at = csv.find(tracker + ",");
  return at == std::string::npos ? ""
                                 : csv.substr(at + tracker.size() + 1, csv.find('\n', at) - at - tracker.size() - 1);
}

std::string dirty_in_intervals_of(std::uint64_t touches, const MadeRecording& made, const std::string& profile) {
  report::AnswerOptions options;
  options.dirty.touches = touches;
  return Examined(made, profile).csv(Question::dirty, options);
}

TEST(Dirty, TrackingByMprotectTakesASignalACallAndOftenASecondFaultForEachPage) {
  // Protecting all is one call, four PTEs and a flush; each page that is written to then is a signal, a call, a PTE and
  // a flush, and splits the mapping. From 6.2 on mprotect itself makes the page writable again (A.2).
  EXPECT_EQ(of_tracker(dirty_in_intervals_of(4, dirties(), "6.18"), "mprotect and SIGSEGV"), "2,,2,4,2,2,2,3,6,3");
  // On 5.10 the store faults once more; the two pages that still wait for their list are copied (A.6), with a flush
  // each.
  EXPECT_EQ(of_tracker(dirty_in_intervals_of(4, dirties(), "5.10"), "mprotect and SIGSEGV"), "2,,2,4,2,4,2,3,6,5");
}

TEST(Dirty, TheKernelsTrackersTakeAFaultForEachPageAndNoMapping) {
  const std::string csv = dirty_in_intervals_of(4, dirties(), "6.18");
  // clear_refs at the begin of either interval (A.5); no handler.
  EXPECT_TRUE(of_tracker(csv, "soft-dirty").starts_with("1,and pagemap is read,2,4,2,2,0,2,")) << csv;
  // userfaultfd, UFFDIO_API, UFFDIO_REGISTER and UFFDIO_WRITEPROTECT, and one for each event (D.9).
  EXPECT_TRUE(of_tracker(csv, "\"uffd-wp, sync\"").starts_with("1,,2,4,2,2,2,6,")) << csv;
  // The kernel takes the protection away by itself.
  EXPECT_TRUE(of_tracker(csv, "\"uffd-wp, async\"").starts_with("1,and pagemap is read,2,4,2,2,0,4,")) << csv;
}

TEST(Dirty, WhatAKernelLacksIsSaid) {
  const std::string csv = dirty_in_intervals_of(4, dirties(), "5.10");
  EXPECT_EQ(of_tracker(csv, "\"uffd-wp, async\""), ",no UFFD_FEATURE_WP_ASYNC in Linux 5.10 on x86-64,,,,,,,,");
  EXPECT_TRUE(
      of_tracker(csv, "\"uffd-wp, sync\"").starts_with("1,pages that are not there yet are not protected,2,4,2,"))
      << csv;
  EXPECT_EQ(of_tracker(dirty_in_intervals_of(4, dirties(), "arm64/6.18"), "soft-dirty"),
            ",no soft-dirty bits in Linux 6.18 on arm64,,,,,,,,");
}

TEST(Dirty, AMappingThatGrewIsTrackedOnKernelsWhoseRequestsAreOfOneMapping) {
  MadeRecording made;
  const auto site = made.site(0x1000);
  made.mmap(site, kA, kPage, kReadWrite);
  made.touch(Touch::store, kA, site);  // the first interval has nothing to track
  made.touch(Touch::store, kA, site);  // the second tracks one page
  made.mmap(site, kA + kPage, kPage, kReadWrite);
  made.touch(Touch::store, kA + kPage, site);
  made.touch(Touch::store, kA, site, 2);  // and the fourth both
  for (const char* profile : {"5.10", "6.1", "6.18"}) {
    const std::string line = of_tracker(dirty_in_intervals_of(1, made, profile), "\"uffd-wp, sync\"");
    // dirty, exceptions and handler runs: each page that is there and tracked is a fault that its handler answers. The
    // new page is not tracked when it is stored to first.
    EXPECT_NE(line.find(",2,3,3,3,"), std::string::npos) << profile << ": " << line;
  }
}

TEST(Dirty, StoresByTheKernelIntoWhatIsProtectedAreTold) {
  MadeRecording made;
  const auto site = made.site(0x1000);
  made.mmap(site, kA, kPage, kReadWrite);
  made.touch(Touch::store, kA, site);
  made.touch(Touch::kernel_store, kA, 0);
  EXPECT_EQ(of_tracker(dirty_in_intervals_of(1, made, "6.18"), "mprotect and SIGSEGV"),
            "1,1 store by the kernel would be EFAULT,2,1,1,0,0,2,2,2");
}

TEST(Costs, StandWithTheCallsThatLedThere) {
  MadeRecording made;
  const auto main = made.site(0x1000);
  const auto fill = made.site(0x2000, main);
  const auto flip = made.site(0x3000, main);
  made.mmap(flip, kA, 4 * kPage, kReadWrite);
  made.touch(Touch::store, kA, fill, 4);
  made.call(Call::mprotect, flip, {kA, 4 * kPage, kRead});
  Examined examined(made);
  EXPECT_EQ(report::recording_folded(examined.report(), examined.symbols(), report::Weight::faults),
            "made;0x1000;0x2000;store 4\n");
  EXPECT_EQ(report::recording_folded(examined.report(), examined.symbols(), report::Weight::flushes),
            "made;0x1000;0x3000;mprotect 1\n");
  const std::string text = report::recording_callgrind(examined.report(), examined.symbols(), report::Weight::ptes);
  EXPECT_NE(text.find("events: Ptes\nsummary: 4\n"), std::string::npos) << text;
  EXPECT_NE(text.find("fn=mprotect\n0 4\n"), std::string::npos) << text;
}

}  // namespace
}  // namespace faultline::record
