#pragma once
// Runs the built program as a user would, in a folder of its own.
#include <sys/wait.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>

#include "support/scratch.h"

namespace agora::testing {

inline std::string contents(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

inline void put(const std::filesystem::path& file, const std::string& text) {
  std::ofstream(file, std::ios::binary) << text;
}

struct Result {
  int status = -1;
  std::string out;
  std::string err;
};

// `command` is a shell line; the word `agora` in it is the program under test.
inline Result shell(const std::string& command, const std::filesystem::path& folder) {
  const std::filesystem::path bin = std::filesystem::path(AGORA_PROGRAM).parent_path();
  const Scratch captured;
  const std::string line = "cd '" + folder.string() + "' && export PATH='" + bin.string() +
                           "':\"$PATH\" && { " + command + "\n} >'" + (captured / "out").string() +
                           "' 2>'" + (captured / "err").string() + "' </dev/null";
  const int status =
      std::system(("bash -c " +
                   [&] {
                     std::string quoted = "'";
                     for (char letter : line) {
                       quoted += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
                     }
                     return quoted + "'";
                   }())
                      .c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
          contents(captured / "out"), contents(captured / "err")};
}

// Times and commits differ from run to run.
inline std::string masked(std::string text) {
  text = std::regex_replace(text, std::regex("seconds\":[-+.e0-9]+"), "seconds\":*");
  text = std::regex_replace(text, std::regex("[0-9]+(\\.[0-9]+)? (ms|s)\\b"), "* s");
  return std::regex_replace(text, std::regex("\"commit\":\"[^\"]*\""), "\"commit\":\"*\"");
}

}  // namespace agora::testing
