// One number per tiny fixed run that must not change by accident. signatures.txt has lines
// `NUMBER COMMAND`; AGORA_UPDATE_GOLDEN=1 writes the numbers anew.
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/features.h"
#include "base/files.h"
#include "support/program.h"

namespace agora {
namespace {

namespace fs = std::filesystem;

// FNV-1a over what the command prints, times masked.
std::string signature(const std::string& text) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (unsigned char byte : text) hash = (hash ^ byte) * 0x100000001b3u;
  return std::to_string(hash);
}

TEST(Signature, OfTinyRuns) {
  if (std::string(AGORA_NATIVE_BUILD) == "ON") {
    GTEST_SKIP() << "this build is tuned for its machine: its last digits are its own";
  }
  const fs::path file = fs::path(AGORA_SOURCE) / "tests/cli/signatures.txt";
  std::istringstream lines(testing::contents(file));
  std::string updated;
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    const Scratch scratch;
    const std::string command = line.substr(line.find(' ') + 1);
    const testing::Result result = testing::shell(command, scratch.path());
    ASSERT_EQ(result.status, 0) << command << "\n" << result.err;
    updated += signature(testing::masked(result.out)) + " " + command + "\n";
  }
  EXPECT_GT(count, 0);
  if (std::getenv("AGORA_UPDATE_GOLDEN") != nullptr) write_atomically(file, updated);
  EXPECT_EQ(updated, testing::contents(file));
}

}  // namespace
}  // namespace agora
