#include <agora/planning/load.h>

#include "planning/files.h"

namespace agora::planning {
namespace {

using testing::complaint;
using testing::Folder;

constexpr const char* kNames = "discount: 0.9\nvalues: reward\nstates: a b c\nactions: l r\n";

Model read(const Folder& folder, const std::string& text, const char* name = "m.mdp") {
  return load(folder.write(name, text));
}

TEST(Cassandra, EntriesRowsMatricesAndWildcards) {
  const Folder folder;
  const Model model = read(folder, std::string(kNames) + R"(
# everything uniform, then replaced bit by bit
T: *
uniform
T: l : a
0.25 0.75 0
T: r
0 1 0
0.5 0 0.5
0 0 1
T: l : c
0 0 1   # c returns to itself
T: r : b : * 0
T: r : b : a 1.0
R: * : * : * -1
R: l : a : b 7
R: * : c : * 0
)");
  EXPECT_EQ(model.discount(), .9);
  ASSERT_EQ(model.states(), 3);
  EXPECT_EQ(model.transition_count(0, 0), 2);
  EXPECT_EQ(model.transition(0, 0, 1).probability, .75);
  EXPECT_EQ(model.transition(0, 0, 1).reward, 7);
  EXPECT_EQ(model.transition(0, 0, 0).reward, -1);
  EXPECT_EQ(model.transition_count(1, 0), 3);
  EXPECT_NEAR(model.transition(1, 0, 2).probability, 1.0 / 3, 1e-15);
  EXPECT_EQ(model.transition_count(1, 1), 1);
  EXPECT_EQ(model.transition(1, 1, 0).next, 0);
  EXPECT_TRUE(model.terminal(2));  // it returns to itself for nothing
  EXPECT_EQ(model.state_name(1), "b");
  EXPECT_EQ(model.action_name(1), "r");
}

TEST(Cassandra, CountsIdentityAndCosts) {
  const Folder folder;
  const Model model = read(folder,
                           "discount: 1\nvalues: cost\nstates: 2\nactions: 2\n"
                           "T: 0\nidentity\nT: 1 : 0 : 1 1\nT: 1 : 1 : 0 1\n"
                           "R: 0 : 0 : 0 3\nR: 1\n1 2\n4 5\n");
  EXPECT_EQ(model.transition(0, 0, 0).reward, -3);
  EXPECT_EQ(model.transition(0, 1, 0).reward, -2);
  EXPECT_EQ(model.transition(1, 1, 0).reward, -4);
}

TEST(Cassandra, EveryFormOfStart) {
  const Folder folder;
  const std::string rest = "T: *\nuniform\n";
  const auto start = [&](const std::string& text) {
    const Model model = read(folder, std::string(kNames) + text + "\n" + rest);
    std::vector<double> p(3);
    for (const auto& [s, probability] : model.start()) p[static_cast<size_t>(s)] = probability;
    return p;
  };
  using P = std::vector<double>;
  EXPECT_EQ(start("start: 0.5 0.25 0.25"), (P{.5, .25, .25}));
  EXPECT_EQ(start("start: b"), (P{0, 1, 0}));
  EXPECT_EQ(start("start: 2"), (P{0, 0, 1}));
  EXPECT_EQ(start("start include: a c"), (P{.5, 0, .5}));
  EXPECT_EQ(start("start exclude: a 2"), (P{0, 1, 0}));
  for (const char* uniform : {"start: uniform", ""}) {
    for (const double p : start(uniform)) EXPECT_NEAR(p, 1.0 / 3, 1e-15) << uniform;
  }
}

TEST(Cassandra, ResetGoesBackToTheStart) {
  const Folder folder;
  const Model model =
      read(folder, std::string(kNames) + "start include: a b\nT: *\nidentity\nT: r : c reset\n");
  ASSERT_EQ(model.transition_count(2, 1), 2);
  EXPECT_EQ(model.transition(2, 1, 0).probability, .5);
}

TEST(Cassandra, RewardsAreAveragedOverObservations) {
  const Folder folder;
  const Model model = read(folder, std::string(kNames) + R"(observations: no yes
T: *
identity
T: l : a : * 0
T: l : a : b 1
O: *
uniform
O: l : b
0.25 0.75
R: * : * : * : * 1
R: l : a : b : yes 9
R: r : b
1 2
3 4
5 6
R: r : c : c
10 20
)",
                           "m.pomdp");
  EXPECT_EQ(model.transition(0, 0, 0).reward, .25 * 1 + .75 * 9);
  EXPECT_EQ(model.transition(1, 1, 0).reward, 3.5);
  EXPECT_EQ(model.transition(2, 1, 0).reward, 15);
  EXPECT_EQ(model.transition(2, 0, 0).reward, 1);
}

TEST(Cassandra, FaultsNameTheLine) {
  const Folder folder;
  const auto says = [&](const std::string& text) { return complaint(folder, "m.mdp", text); };
  const std::string names = kNames;
  EXPECT_EQ(says(names + "T: *\nuniform\nT: l : a\n0.5 0.4 0\n"),
            "m.mdp:7: the probabilities of the action 'l' in the state 'a' sum to 0.9, expected 1");
  EXPECT_EQ(says(names + "T: l : aa : b 1\n"), "m.mdp:5: unknown state 'aa' (did you mean 'a'?)");
  EXPECT_EQ(says(names + "T: up : a : b 1\n").find("m.mdp:5: unknown action 'up'"), 0u);
  EXPECT_EQ(says(names + "T: 2 : a : b 1\n"), "m.mdp:5: action 2 does not exist, there are 2");
  EXPECT_EQ(says(names + "T: *\nidentity\nR: l : a : a nan\n"),
            "m.mdp:7: expected a reward, found nan: not a finite number");
  EXPECT_EQ(says(names + "T: l\nidentity\n"),
            "m.mdp:7: no T: gives the action 'r' in the state 'a'");
  EXPECT_EQ(says(names + "T: *\n1 0 0\n0 1 0\n0 0\n"),
            "m.mdp:9: the file ends in the middle of a rule");
  EXPECT_EQ(says(names + "T: l : a : b 1.5\n"), "m.mdp:5: 1.5 is not a probability");
  EXPECT_EQ(says("discount: 2\nstates: 2\nactions: 1\n"),
            "m.mdp:1: the discount is 2, expected 0 to 1");
  EXPECT_EQ(says(""), "m.mdp:1: the file is empty, expected 'discount:' or 'states:'");
  EXPECT_EQ(says("states: 0\n"), "m.mdp:1: expected a number of states, found '0'");
  EXPECT_EQ(says("states: a a\n"), "m.mdp:1: the state 'a' is named twice");
  EXPECT_EQ(says("discount: .9\nT: 0 : 0 : 0 1\n"),
            "m.mdp:2: the model is empty: no 'states:' before this line");
  EXPECT_EQ(says("states: 2000000000\nactions: 100\n").find("m.mdp:1: 2000000000 states"), 0u);
  EXPECT_EQ(says("%PDF-1.4 stuff"),
            "m.mdp:1: expected discount:, values:, states:, actions: or observations:, found "
            "'%PDF-1.4'");
  EXPECT_EQ(says(std::string("states: 2\n\0\0", 12)), "m.mdp:2: this is not a text file");
  EXPECT_EQ(says(names + "start: 0.5 0.5 0.5\nT: *\nuniform\n"),
            "m.mdp:5: the starting probabilities sum to 1.5, expected 1");
  EXPECT_EQ(says(names + "start: 0.5 0.5\nT: *\nuniform\n"),
            "m.mdp:5: 2 starting probabilities for 3 states");
  EXPECT_EQ(says(names + "O: *\nuniform\n"), "m.mdp:5: O: without 'observations:'");
}

}  // namespace
}  // namespace agora::planning
