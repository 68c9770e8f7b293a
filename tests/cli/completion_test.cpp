// What bash offers after a command line that is not finished.
#include <gtest/gtest.h>

#include <set>

#include "support/program.h"

namespace agora::testing {
namespace {

using Words = std::set<std::string>;

class Completion : public ::testing::Test {
 protected:
  // `line` as bash splits it, its last word being the one under the cursor.
  Words offered(const std::vector<std::string>& line) {
    std::string words;
    for (const std::string& word : line) words += " '" + word + "'";
    const Result result = shell("source <(agora completion bash)\nCOMP_WORDS=(agora" + words +
                                    ")\nCOMP_CWORD=" + std::to_string(line.size()) +
                                    "\n_agora\nprintf '%s\\n' \"${COMPREPLY[@]}\"",
                                scratch_.path());
    EXPECT_EQ(result.err, "");
    std::istringstream lines(result.out);
    Words found;
    for (std::string each; std::getline(lines, each);) {
      if (!each.empty()) found.insert(each);
    }
    return found;
  }

  Scratch scratch_;
};

TEST_F(Completion, OfVerbs) {
  EXPECT_TRUE(offered({""}).contains("auction"));
  EXPECT_EQ(offered({"rep"}), (Words{"report", "reproduce"}));
  EXPECT_EQ(offered({"plan", "s"}), (Words{"show", "solve"}));
}

TEST_F(Completion, OfOptions) {
  EXPECT_EQ(offered({"plan", "solve", "maze", "--me"}), (Words{"--method"}));
  EXPECT_EQ(offered({"auction", "exact", "--bay"}), (Words{"--bayesian"}));
  EXPECT_FALSE(offered({"reproduce", "--"}).contains("--task"));  // not for users
}

TEST_F(Completion, OfKinds) {
  put(scratch_ / "made.json", "{}");
  put(scratch_ / "rooms.map", "SG\n");
  EXPECT_EQ(offered({"auction", "exact", "v"}), (Words{"vcg", "vvca"}));
  EXPECT_FALSE(offered({"auction", "exact", ""}).contains("made.json"));
  EXPECT_EQ(offered({"auction", "audit", "m"}), (Words{"made.json", "menu", "myerson"}));
  EXPECT_EQ(offered({"auction", "train", ""}),
            (Words{"algnet", "ama-tariff", "equivariantnet", "learned-ama", "menu-net", "regretnet",
                   "sifted-ama", "tariff"}));
  EXPECT_EQ(offered({"auction", "train", "algnet", "--recipe", ""}), (Words{"best", "thesis"}));
  EXPECT_EQ(offered({"plan", "solve", "r"}), (Words{"random", "rooms.map"}));
  EXPECT_EQ(offered({"plan", "solve", "maze", "--method", "vi"}),
            (Words{"vi", "vi-gauss-seidel", "vi-prioritised"}));
  EXPECT_EQ(offered({"plan", "learn", "maze", "--algorithm", "q"}), (Words{"q-learning"}));
  EXPECT_EQ(offered({"reproduce", "ch1"}), (Words{"ch1-optimal-auction"}));
  EXPECT_EQ(offered({"version", "--device", ""}), (Words{"cpu", "cuda"}));
}

// An option and its value in one word are three to bash; a number has no completion but files.
TEST_F(Completion, KnowsWhatIsBefore) {
  put(scratch_ / "b.csv", "");
  EXPECT_EQ(offered({"plan", "solve", "maze", "--method", "=", "so"}), (Words{"soft-vi"}));
  EXPECT_EQ(offered({"version", "--device", "="}), (Words{"cpu", "cuda"}));
  EXPECT_EQ(offered({"auction", "run", "vcg", "--bids", ""}), (Words{"b.csv"}));
  EXPECT_EQ(offered({"auction", "exact", "--json", "sj"}), (Words{"sja"}));
}

}  // namespace
}  // namespace agora::testing
