#pragma once

namespace agora::cli {

// Parses the command line, runs one verb and returns the exit status:
// 0 done, 1 internal fault, 2 the user's mistake, 130/143 interrupted after saving.
int run_program(int argc, const char* const* argv);

}  // namespace agora::cli
