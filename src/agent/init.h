#pragma once

namespace faultline::agent {

/// The agent as the first process of a kernel under QEMU. It says hello: a message of two lines, the kernel's release
/// and version; then the kernel's functions, as /proc/kallsyms has them, in messages of which the last is empty. Then
/// it waits until QEMU's configuration device holds a request, runs it, and answers with the report. What is missing is
/// said on the console.
[[noreturn]] void be_init();

}  // namespace faultline::agent
