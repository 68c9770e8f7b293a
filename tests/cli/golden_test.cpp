// Transcripts of the command line: every `$ command` of golden/*.txt must print what follows it.
// A line `[N]` is its exit status where that is not 0. AGORA_UPDATE_GOLDEN=1 writes them anew.
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/files.h"
#include "support/program.h"

namespace agora {
namespace {

namespace fs = std::filesystem;
const fs::path kFolder = fs::path(AGORA_SOURCE) / "tests/cli/golden";

std::string replay(const std::string& transcript) {
  const Scratch scratch;
  fs::create_directory_symlink(fs::path(AGORA_SOURCE) / "examples", scratch / "examples");
  std::istringstream lines(transcript);
  std::string replayed;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("$ ")) continue;
    const testing::Result result = testing::shell(line.substr(2), scratch.path());
    replayed += line + "\n" + testing::masked(result.out) + testing::masked(result.err);
    if (result.status != 0) replayed += "[" + std::to_string(result.status) + "]\n";
    replayed += "\n";
  }
  return replayed;
}

class Golden : public ::testing::TestWithParam<std::string> {};

TEST_P(Golden, Transcript) {
  const fs::path file = kFolder / (GetParam() + ".txt");
  const std::string expected = testing::contents(file);
  const std::string replayed = replay(expected);
  if (std::getenv("AGORA_UPDATE_GOLDEN") != nullptr) write_atomically(file, replayed);
  EXPECT_EQ(replayed, testing::contents(file));
}

std::vector<std::string> transcripts() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(kFolder))
    names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

INSTANTIATE_TEST_SUITE_P(Files, Golden, ::testing::ValuesIn(transcripts()),
                         [](const auto& each) { return each.param; });

}  // namespace
}  // namespace agora
