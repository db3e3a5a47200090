#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "cli/source.h"

namespace faultline::cli {

/// `--set NAME=VALUE[,VALUE…]`, any number of times; one argument each, so that a program may follow.
void add_set(CLI::App& command, std::vector<std::string>& set, const std::string& help);

/// `--on MACHINE`, any number of times.
void add_on(CLI::App& command, std::vector<std::string>& on, const std::string& help);

/// `--from fl|strace|recording`: what the program is written in, where its content does not say so.
void add_from(CLI::App& command, Language& language);

/// `--time-limit SECONDS`, above 0.
void add_time_limit(CLI::App& command, double& seconds);

}  // namespace faultline::cli
