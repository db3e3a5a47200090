#include "cli/commands.h"

int main(int argc, char** argv) { return faultline::cli::faultline_main(argc, argv); }
