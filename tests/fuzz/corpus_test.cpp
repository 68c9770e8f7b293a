// Every input of the corpus, those that once broke something included, in the build at hand.
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/files.h"
#include "fuzz/target.h"

namespace agora::fuzz {
namespace {

TEST(Corpus, IsTakenOrRefusedInOneLine) {
  ASSERT_FALSE(targets().empty());
  for (const auto& [name, target] : targets()) {
    const std::filesystem::path inputs = AGORA_SOURCE "/tests/fuzz/corpus/" + name;
    int taken = 0;
    for (const auto& entry : std::filesystem::directory_iterator(inputs)) {
      SCOPED_TRACE(entry.path().string());
      try {
        taken += accepts(target, read_file(entry.path()));
      } catch (const std::exception& fault) {
        ADD_FAILURE() << fault.what();
      }
    }
    EXPECT_GT(taken, 0) << name;
  }
}

}  // namespace
}  // namespace agora::fuzz
