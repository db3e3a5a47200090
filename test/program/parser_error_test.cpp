// Every way a text is refused: at which place, and what was expected there.
#include <gtest/gtest.h>

#include "program/parser.h"

namespace faultline::program {
namespace {

/// The text is refused at line:column with a message that holds `part`.
void expect_error(std::string_view text, std::uint32_t line, std::uint32_t column, std::string_view part) {
  const auto program = parse(text, "t.fl");
  ASSERT_FALSE(program) << "was accepted: " << text;
  const Error& error = program.error();
  EXPECT_EQ(error.position.line, line) << render(error);
  EXPECT_EQ(error.position.column, column) << render(error);
  EXPECT_NE(error.message.find(part), std::string::npos) << render(error) << "lacks: " << part;
}

TEST(ParserErrors, AnUnknownCallNamesTheNearest) {
  expect_error("let a = 1\n  mprotcet(a, 1, PROT_READ)", 2, 3, "unknown call 'mprotcet': did you mean 'mprotect'?");
  expect_error("a = mmpa(0)", 1, 5, "unknown call 'mmpa': did you mean 'mmap'?");
  expect_error("stroe(1)", 1, 1, "did you mean 'store'?");
  expect_error("expect vma(1, 2) == 1", 1, 8, "did you mean 'vmas'?");
  expect_error("frobnicate(1)", 1, 1, "unknown call 'frobnicate': expected a system call such as mmap");
  expect_error("fork()", 1, 1, "expected 'child { … }'");
}

TEST(ParserErrors, AnUnknownFlagNamesTheNearest) {
  expect_error("mprotect(0, 4096, PROT_REED|PROT_WRITE)", 1, 19, "unknown name 'PROT_REED': did you mean 'PROT_READ'?");
  expect_error("madvise(0, 4096, MADV_GUARD_INSTAL)", 1, 18, "did you mean 'MADV_GUARD_INSTALL'?");
  expect_error("let x = Q", 1, 9, "unknown name 'Q'");
}

TEST(ParserErrors, AnIoctlNamesItsRequestAndFields) {
  expect_error("ioctl(3, 7, {})", 1, 10, "expected a request of ioctl_userfaultfd(2) such as UFFDIO_REGISTER");
  expect_error("ioctl(3, UFFDIO_REGISTR, {})", 1, 10, "did you mean 'UFFDIO_REGISTER'?");
  expect_error("ioctl(3, UFFDIO_WAKE, 7)", 1, 23, "expected '{'");
  expect_error("ioctl(3, UFFDIO_COPY, {dest=1})", 1, 24, "has no field 'dest': expected {dst, src, len, mode}");
  expect_error("ioctl(3, UFFDIO_REGISTER, {start=1})", 1, 28, "expected {range={start, len}, mode}");
  expect_error("ioctl(3, UFFDIO_WAKE, {len=1, len=2})", 1, 31, "'len' has a value already");
  expect_error("ioctl(3, UFFDIO_WAKE, {len=1)", 1, 29, "expected ',' or '}'");
}

TEST(ParserErrors, AnUnknownVariableNamesTheNearest) {
  expect_error("let pages = 1\nlet size = page * PAGE", 2, 12, "did you mean 'pages'?");
  expect_error("let size = 1\nsiez = 2", 2, 1, "unknown variable 'siez': did you mean 'size'?");
  expect_error("total = 2", 1, 1, "expected 'let total = …' to define it");
}

TEST(ParserErrors, ANameEndsWithItsBlock) {
  expect_error("repeat 1 {\n let inner = 1\n}\nload(inner)", 4, 6, "unknown name 'inner'");
  expect_error("for i in 0..2 { }\nload(i)", 2, 6, "unknown name 'i'");
  expect_error("threads 2 { }\nload(thread)", 2, 6, "unknown name 'thread'");
  expect_error("for i in 0..i { }", 1, 13, "unknown name 'i'");
  expect_error("let x = x", 1, 9, "unknown name 'x'");
  expect_error("a = brk(a)", 1, 9, "unknown name 'a'");
}

TEST(ParserErrors, ASecondDefinitionInTheSameBlockIsRefused) {
  expect_error("let a = 1\nlet a = 2", 2, 5, "'a' is defined in this block already, on line 1: expected 'a = …'");
  expect_error("param a = 1\nparam a = 2", 2, 7, "on line 1: expected another name");
  expect_error("for i in 0..2 {\n let i = 1\n}", 2, 6, "'i' is defined in this block already");
}

TEST(ParserErrors, ReservedNamesDefineNothing) {
  expect_error("let repeat = 1", 1, 5, "'repeat' is a word of the language");
  expect_error("let PAGE = 1", 1, 5, "'PAGE' is a constant");
  expect_error("PAGE = 1", 1, 1, "'PAGE' is a constant");
  expect_error("NULL = brk(0)", 1, 1, "'NULL' is a constant");
  expect_error("for ENOMEM in 0..1 { }", 1, 5, "'ENOMEM' is a constant");
  expect_error("let 5 = 1", 1, 5, "expected a name but found the number 5");
  expect_error("let", 1, 4, "expected a name but found the end of the file");
}

TEST(ParserErrors, ParamsAndCountersAreNotAssigned) {
  expect_error("param n = 1\nn = 2", 2, 1, "'n' is a param, which only --set changes");
  expect_error("param n = 1\nn = brk(0)", 2, 1, "'n' is a param");
  expect_error("for i in 0..2 { i = 1 }", 1, 17, "'i' belongs to its block");
  expect_error("threads 2 { thread = 1 }", 1, 13, "'thread' belongs to its block");
}

TEST(ParserErrors, AParamIsKnownBeforeTheProgramRuns) {
  expect_error("let x = 1\nparam n = x", 2, 11, "'x' is no param");
  expect_error("param n = vmas()", 1, 11, "a param is known before the program runs");
  expect_error("repeat 1 {\n  param n = 1\n}", 2, 3, "expected it at the top level");
}

TEST(ParserErrors, ArgumentsAreCounted) {
  expect_error("mprotect(0, 4096)", 1, 17,
               "mprotect takes 3 arguments (addr, length, prot): expected more but found 2");
  expect_error("mprotect(0, 4096, 1, 2)", 1, 22, "mprotect takes 3 arguments (addr, length, prot)");
  expect_error("mprotect()", 1, 10, "expected more but found 0");
  expect_error("munlockall(1)", 1, 12, "munlockall takes 0 arguments");
  expect_error("mseal(1)", 1, 8, "mseal takes 2 to 3 arguments");
  expect_error("brk(1, 2)", 1, 8, "brk takes 1 argument (addr)");
  expect_error("store(1, 2, 3, 4, 5)", 1, 19, "store takes 1 to 4 arguments (addr, length, stride, value)");
  expect_error("load(1, 2, 3, 4)", 1, 15, "load takes 1 to 3 arguments (addr, length, stride)");
  expect_error("load()", 1, 6, "load takes 1 to 3 arguments");
  expect_error("code(1, 2)", 1, 9, "code takes 1 argument (addr)");
  expect_error("expect resident(1) == 0", 1, 18, "resident takes 2 arguments (addr, length)");
  expect_error("expect vmas(1) == 0", 1, 8, "vmas takes no argument (the whole process) or two");
  expect_error("expect max_map_count(1)", 1, 22, "max_map_count takes 0 arguments");
  expect_error("load(1,)", 1, 8, "expected a value");
}

TEST(ParserErrors, CallsStandWhereTheyMay) {
  expect_error("let a = mmap(0, 1, 2, 3, 4, 5)", 1, 9, "'mmap' is a system call: expected it alone");
  expect_error("expect brk(0) == 1", 1, 8, "'brk' is a system call");
  expect_error("let a = 0\na = load(1)", 2, 5, "'load' gives no value: expected value(addr)");
  expect_error("vmas(1, 2)", 1, 1, "'vmas' is a question, no statement");
  expect_error("a = brk(0) + 1", 1, 12, "expected the end of the statement but found '+'");
}

TEST(ParserErrors, StringsStandWhereTheyMay) {
  expect_error("mmap(\"x\", 1, 2, 3, 4, 5)", 1, 6, "a string is no value");
  expect_error("memfd_create(1 + \"x\")", 1, 18, "a string is no value");
  expect_error("let a = \"x\"", 1, 9, "a string is no value");
  expect_error("memfd_create(\"x)", 1, 14, "this string is never closed");
  expect_error("memfd_create(\"x\n\")", 1, 14, "this string is never closed");
  expect_error("memfd_create(\"a\\q\")", 1, 16, "unknown escape in a string");
  expect_error("memfd_create(\"a\\x0\")", 1, 16, "unknown escape in a string");
  expect_error("memfd_create(\"a\\x00\")", 1, 16, "unknown escape in a string");
}

TEST(ParserErrors, NumbersFitIn64Bits) {
  expect_error("let x = 18446744073709551616", 1, 9, "is too large: expected at most 2^64-1");
  expect_error("let x = 0x10000000000000000", 1, 9, "is too large");
  expect_error("let x = 16777216T", 1, 9, "is too large");
  EXPECT_TRUE(parse("let x = 18446744073709551615", "t.fl"));
}

TEST(ParserErrors, NumbersAreWrittenWhole) {
  expect_error("let x = 64Q", 1, 9, "expected decimal digits, or digits and one of the suffixes K, M, G, T");
  expect_error("let x = 64KB", 1, 9, "is not a number");
  expect_error("let x = 0xg", 1, 9, "expected hexadecimal digits after 0x");
  expect_error("let x = 09", 1, 9, "expected octal digits");
  expect_error("let x = 1.5", 1, 10, "unexpected character '.'");
}

TEST(ParserErrors, ALiteralDivisorOfZeroIsRefused) {
  expect_error("let x = 1 / 0", 1, 13, "division by zero: expected a divisor other than 0");
  expect_error("let x = 1 % 0x0", 1, 13, "division by zero");
  expect_error("load(5 / (0))", 1, 11, "division by zero");
}

TEST(ParserErrors, UnclosedBracketsNameWhereTheyWereOpened) {
  expect_error("repeat 3 {\n load(1)\n", 1, 10, "this block is never closed: expected '}'");
  expect_error("repeat 3 {\n repeat 2 {\n load(1)\n}\n", 1, 10, "never closed");
  expect_error("load(1,\n\n 2\nload(1)", 4, 1,
               "expected an operator, ',' or ')' to close the '(' of line 1 but found 'load'");
  expect_error("load((1\n", 1, 8, "')' to close the '(' of line 1 but found the end of the file");
  expect_error("load(1", 1, 7, "found the end of the file");
  expect_error("}", 1, 1, "this '}' closes no block");
  expect_error("load(1)\nrepeat 1 { } }", 2, 14, "this '}' closes no block");
  expect_error("load(1))", 1, 8, "expected the end of the statement but found ')'");
}

TEST(ParserErrors, BlocksBeginOnTheirHeadersLine) {
  expect_error("repeat 3\n{ }", 1, 9, "expected '{' on the same line but found the end of the line");
  expect_error("repeat 3 # three\n{ }", 1, 9, "expected '{' on the same line");
  expect_error("repeat { }", 1, 8, "expected a value");
  expect_error("for i = 0 { }", 1, 7, "expected 'in' and a range");
  expect_error("for i in 0 { }", 1, 12, "expected an operator or '..'");
  expect_error("for i in 0.. { }", 1, 14, "expected a value");
  expect_error("repeat 1 { } load(1)", 1, 14, "expected the end of the statement");
}

TEST(ParserErrors, BlocksBearNames) {
  expect_error("measure { }", 1, 9, "expected the name of a measure block in quotes but found '{'");
  expect_error("measure \"\" { }", 1, 9, "this name is empty");
  expect_error("measure \"a\" { }\nmeasure \"a\" { }", 2, 9, "there is a measure \"a\" already");
  expect_error("child kid { }", 1, 7, "expected the name of a child block in quotes but found 'kid'");
  expect_error("child \"\" { }", 1, 7, "this name is empty");
}

TEST(ParserErrors, MentionedBlocksExist) {
  expect_error("measure \"cycle\" { }\nexpect faults(\"cyle\") == 0", 2, 15,
               "the program has no measure \"cyle\": did you mean 'cycle'?");
  expect_error("expect minflt(\"m\") == 0", 1, 15,
               "the program has no measure \"m\": expected the name of such a block");
  expect_error("child \"kid\" { }\nexit(\"kit\")", 2, 6, "the program has no child \"kit\": did you mean 'kid'?");
  expect_error("expect faults(m) == 0", 1, 15, "expected the name of a measure block in quotes but found 'm'");
  expect_error("exit(kid)", 1, 6, "expected the name of a child block in quotes");
}

TEST(ParserErrors, CountersExist) {
  expect_error("measure \"m\" { }\nexpect count(ptes_change, \"m\")", 2, 14,
               "expected a counter such as ptes_changed but found 'ptes_change': did you mean 'ptes_changed'?");
  expect_error("measure \"m\" { }\nexpect count(\"m\")", 2, 14,
               "expected a counter such as ptes_changed but found a string");
  expect_error("measure \"m\" { }\nexpect count(splits)", 2, 20, "expected ',' and the name of a measure block");
}

TEST(ParserErrors, ResultsOfSystemCallsAreValuesOrErrorNames) {
  expect_error("munmap(0, 0) = -1", 1, 18, "expected an error name after -1, such as -1 ENOMEM but found the end");
  expect_error("munmap(0, 0) = -1 EINVL", 1, 19, "did you mean 'EINVAL'?");
  expect_error("munmap(0, 0) = SIGSEGV", 1, 16, "a system call ends in no signal");
  expect_error("munmap(0, 0) = 0 ENOMEM", 1, 18, "expected the end of the statement but found 'ENOMEM'");
  expect_error("munmap(0, 0) =", 1, 15, "expected a value");
  expect_error("munmap(0, 0) = -1 EINVAL (Invalid\n", 1, 25, "this '(' is never closed");
}

TEST(ParserErrors, AccessesEndInASignalOrNone) {
  expect_error("load(1) = 1", 1, 11, "expected how the access ends: 0 for no signal, or a signal");
  expect_error("load(1) = -1 EFAULT", 1, 11, "expected how the access ends");
  expect_error("load(1) = SIGSEG", 1, 11, "expected how the access ends");
  expect_error("load(1) = SIGSEGV SEGV_ACERR", 1, 19, "did you mean 'SEGV_ACCERR'?");
  expect_error("load(1) = SIGSEGV BUS_ADRERR", 1, 19, "expected a si_code of SIGSEGV");
  expect_error("code(1) = 0", 1, 9, "expected the end of the statement but found '='");
  expect_error("fetch(1) at 2", 1, 10, "a fetch runs the instruction at its own address");
}

TEST(ParserErrors, MachinesAreKnown) {
  expect_error("expect 1 on modl", 1, 13, "expected a machine: model, live or vm");
  expect_error("expect 1 on", 1, 12, "but found nothing");
  expect_error("expect 1 on live,", 1, 18, "expected a machine");
  expect_error("expect 1 on live, model:x", 1, 19, "expected a kernel version such as 6.12");
  expect_error("expect 1 on live model", 1, 18, "expected the end of the statement but found 'model'");
}

TEST(ParserErrors, AStatementIsExpectedWhereNoneStands) {
  expect_error("5", 1, 1, "expected a statement");
  expect_error("load(1)\n  = 0", 2, 3, "expected a statement: a call such as mmap(…) or store(…), an assignment");
  expect_error("in", 1, 1, "expected a statement");
  expect_error("repaet 5 { }", 1, 1, "unknown statement 'repaet': did you mean 'repeat'?");
  expect_error("something else", 1, 11, "expected '(' or '=' after 'something' but found 'else'");
  expect_error("let x = 1 2", 1, 11, "expected the end of the statement but found the number 2");
  expect_error("expect 1 = 1", 1, 10, "to compare, write '=='");
  expect_error("let x = ", 1, 8,
               "expected a value: a number, a name, '-', '~', '!' or '(' but found the end of the file");
  expect_error("let x = 1 @ 2", 1, 11, "unexpected character '@'");
  expect_error("let é = 1", 1, 5, "unexpected character 'é'");
  expect_error("let x == 1", 1, 7, "expected '=' and the variable's value but found '=='");
}

}  // namespace
}  // namespace faultline::program
