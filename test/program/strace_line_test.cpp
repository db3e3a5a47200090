// One line of a log: every form that strace's options give it.
#include <gtest/gtest.h>

#include "program/strace.h"
#include "program/strace_line.h"

namespace faultline::program {
namespace {

using Kind = StraceLineKind;

struct Case {
  std::string_view line;
  Kind kind;
  std::uint32_t pid;
  std::string_view name;
  std::string_view body;
};

class LineForms : public testing::TestWithParam<Case> {};

TEST_P(LineForms, IsTakenApart) {
  const auto& [text, kind, pid, name, body] = GetParam();
  const StraceLine line = read_strace_line(text);
  EXPECT_EQ(line.kind, kind) << text;
  EXPECT_EQ(line.pid, pid) << text;
  EXPECT_EQ(line.name, name) << text;
  EXPECT_EQ(line.body, body) << text;
}

INSTANTIATE_TEST_SUITE_P(
    Strace, LineForms,
    testing::Values(
        Case{"brk(NULL) = 0x1000", Kind::call, 0, "brk", "(NULL) = 0x1000"},
        Case{"brk(NULL)      = 0x1000\r", Kind::call, 0, "brk", "(NULL)      = 0x1000"},
        // -f, alone, in an -o file and with -Y
        Case{"[pid  7178] brk(NULL) = 0x1000", Kind::call, 7178, "brk", "(NULL) = 0x1000"},
        Case{"7157  brk(NULL) = 0x1000", Kind::call, 7157, "brk", "(NULL) = 0x1000"},
        Case{"[pid 7178<cc1>] brk(NULL) = 0x1000", Kind::call, 7178, "brk", "(NULL) = 0x1000"},
        Case{"7157<ls> brk(NULL) = 0x1000", Kind::call, 7157, "brk", "(NULL) = 0x1000"},
        // -t, -tt, -ttt, -r, and whole seconds, which no pid reaches
        Case{"09:30:57 brk(NULL) = 0x1000", Kind::call, 0, "brk", "(NULL) = 0x1000"},
        Case{"09:30:57.741460 brk(NULL) = 0x1000", Kind::call, 0, "brk", "(NULL) = 0x1000"},
        Case{"1796031471.439531 brk(NULL) = 0x1000", Kind::call, 0, "brk", "(NULL) = 0x1000"},
        Case{"     0.008115 brk(NULL) = 0x1000", Kind::call, 0, "brk", "(NULL) = 0x1000"},
        Case{"1796031471 brk(NULL) = 0x1000", Kind::call, 0, "brk", "(NULL) = 0x1000"},
        Case{"7173  09:30:57.741460 brk(NULL) = 0x1000", Kind::call, 7173, "brk", "(NULL) = 0x1000"},
        Case{"7173       0.000964 brk(NULL) = 0x1000", Kind::call, 7173, "brk", "(NULL) = 0x1000"},
        Case{"[pid 10565<t>] 09:37:50 (+     0.000336) [ 334] [00007efeff38c1b3] rseq(0x7efeff2fffe0 <unfinished ...>",
             Kind::unfinished, 10565, "rseq", "(0x7efeff2fffe0 "},
        // calls in pieces
        Case{"[pid 5] munmap(0x1000, 4096 <unfinished ...>", Kind::unfinished, 5, "munmap", "(0x1000, 4096 "},
        Case{"mmap(NULL, 4096 <detached ...>", Kind::unfinished, 0, "mmap", "(NULL, 4096 "},
        Case{"5 <... munmap resumed>) = 0", Kind::resumed, 5, "munmap", ") = 0"},
        Case{"<... munmap resumed> )      = 0", Kind::resumed, 0, "munmap", " )      = 0"},
        // what is no call
        Case{"+++ exited with 0 +++", Kind::exit, 0, "", ""},
        Case{"[pid 5] +++ killed by SIGSEGV (core dumped) +++", Kind::exit, 5, "", ""},
        Case{"--- SIGSEGV {si_signo=SIGSEGV, si_code=SEGV_MAPERR, si_addr=NULL} ---", Kind::signal, 0, "SIGSEGV", ""},
        Case{"strace: Process 7178 attached", Kind::attached, 7178, "", ""},
        Case{"strace: Process 7178 detached", Kind::remark, 0, "", ""},
        Case{" > /usr/lib/libc.so.6(mmap+0x23) [0x101a13]", Kind::remark, 0, "", ""}, Case{"", Kind::blank, 0, "", ""},
        Case{" \t", Kind::blank, 0, "", ""}),
    [](const auto& test) { return "Form" + std::to_string(test.index); });

TEST(StraceLine, OfTheTracedProgramItselfIsForeign) {
  for (const std::string_view text : {"1", "hello, world", "total 12", "12 files (3 of them new)", "[pid] x(1)", "3.5",
                                      "a.c:3:1: error: expected ';'", "(+", "[", "+++", "<... >", "7157", "(1) = 2"}) {
    EXPECT_EQ(read_strace_line(text).kind, Kind::foreign) << text;
  }
}

TEST(StraceLine, LogsAreToldFromProgramsByWhatNoProgramHas) {
  for (const std::string_view log :
       {"mmap(NULL, 8192, PROT_READ, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = 0x7f0df22f5000\n",
        "[pid 5] munmap(0x1000, 4096) = 0\n", "7157  munmap(0x1000, 4096) = 0\n", "09:30:57 munmap(0x1000, 4096) = 0\n",
        "munmap(0x1000, 4096) = 0 <0.000012>\n", "munmap(0x1000, 4096) = 0\n+++ exited with 0 +++\n",
        "execve(\"/usr/bin/ls\", [\"ls\"], 0x7ffcd1b7fe40 /* 41 vars */) = 0\n", "hello\n7157  brk(NULL) = 0x1000",
        "munmap(0x1000, 4096) = 0\n--- SIGCHLD {si_signo=SIGCHLD} ---\n"}) {
    EXPECT_TRUE(looks_like_strace(log)) << log;
  }
  for (const std::string_view program :
       {"", "\n\n", "# 7157  brk(NULL) = 0x1000\nmunmap(0x1000, 4096) = 0\n", "munmap(0x1000, 4096) = 0\n",
        "a = mmap(NULL, 8192, PROT_READ, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0)\n", "param pages = 1\nbrk(NULL) = 0x1000\n",
        "let x = 1\n", "store(0x1000)\n", "expect 1 == 1\n", "munmap(0x1000, 4096) = -1 EINVAL (Invalid argument)\n",
        "child {\n}\n",
        "\x7f"
        "ELF\x02\x01\x01"}) {
    EXPECT_FALSE(looks_like_strace(program)) << program;
  }
}

}  // namespace
}  // namespace faultline::program
