#include <agora/planning/load.h>
#include <agora/planning/solve.h>

#include <cmath>
#include <sstream>

#include "base/files.h"
#include "base/rng.h"
#include "planning/files.h"
#include "planning/formats/format.h"

namespace agora::planning {
namespace {

using testing::complaint;
using testing::Folder;

void expect_same(const Model& a, const Model& b) {
  ASSERT_EQ(a.states(), b.states());
  ASSERT_EQ(a.actions(), b.actions());
  EXPECT_EQ(a.is_deterministic(), b.is_deterministic());
  for (State s = 0; s < a.states(); ++s) {
    EXPECT_EQ(a.state_name(s), b.state_name(s));
    ASSERT_EQ(a.terminal(s), b.terminal(s)) << "state " << s;
    if (a.terminal(s)) {
      EXPECT_EQ(a.terminal_reward(s), b.terminal_reward(s)) << "state " << s;
    }
    for (Action action = 0; action < a.actions(); ++action) {
      ASSERT_EQ(a.transition_count(s, action), b.transition_count(s, action)) << "state " << s;
      for (int64_t i = 0; i < a.transition_count(s, action); ++i) {
        const auto one = a.transition(s, action, i), other = b.transition(s, action, i);
        EXPECT_EQ(one.next, other.next);
        EXPECT_NEAR(one.probability, other.probability, 1e-15);
        EXPECT_EQ(one.reward, other.reward);
      }
    }
  }
}

// ---- CSV

constexpr const char* kHeader = "state,action,next_state,probability,reward\n";

TEST(Csv, ReadsNumberedStatesWithoutNames) {
  const Folder folder;
  const Model model =
      load(folder.write("m.csv", std::string(kHeader) + "0,go,1,.25,-1\n0,go,2,.75,-2\n1,go,2,1,3\n"
                                                        "2,,,,7\n"));
  EXPECT_EQ(model.states(), 3);
  EXPECT_EQ(model.actions(), 1);
  EXPECT_EQ(model.state_name(2), "2");
  EXPECT_TRUE(model.terminal(2));
  EXPECT_EQ(model.terminal_reward(2), 7);
  EXPECT_EQ(model.transition(0, 0, 1).probability, .75);
  EXPECT_EQ(model.transition(0, 0, 1).reward, -2);
}

TEST(Csv, ReadsNamesInAnyOrderAndQuotes) {
  const Folder folder;
  const Model model =
      load(folder.write("m.csv", std::string("\xEF\xBB\xBF") + kHeader +
                                     "\"a,b\",right,end,.5,1\r\nc,left,\"a,b\",1,0\r\n"
                                     "\"a,b\",right,c,.5,1\r\n\r\n"));
  EXPECT_EQ(model.states(), 3);
  const State s = model.find_state("a,b");
  ASSERT_NE(s, kNone);
  EXPECT_EQ(model.transition_count(s, model.find_action("right")), 2);
  EXPECT_FALSE(model.has(s, model.find_action("left")));
  EXPECT_TRUE(model.terminal(model.find_state("end")));
}

// However the rows are shuffled, the model is the same and faults still name a line.
TEST(Csv, AnyOrderGivesTheSameModel) {
  const Folder folder;
  const Model model = load("random(states=30,actions=2,branching=3,terminals=2)");
  save(model, folder.at("m.csv"));
  std::vector<std::string> lines;
  std::istringstream text(read_file(folder.at("m.csv")));
  for (std::string line; std::getline(text, line);) lines.push_back(line + "\n");
  for (uint32_t round = 0; round < 20; ++round) {
    std::vector<std::string> rows(lines.begin() + 1, lines.end());
    Rng(3, round).shuffle(rows);
    std::string shuffled = lines[0];
    for (const std::string& row : rows) shuffled += row;
    const Model again = load(folder.write("s.csv", shuffled));
    ASSERT_EQ(again.states(), model.states());
    EXPECT_EQ(again.transitions(), model.transitions());
    for (State s = 0; s < model.states(); ++s) {
      for (Action a = 0; a < model.actions(); ++a) {
        const Action b = again.find_action(model.action_name(a));
        ASSERT_EQ(again.transition_count(s, b), model.transition_count(s, a));
        for (int64_t i = 0; i < model.transition_count(s, a); ++i) {
          EXPECT_EQ(again.transition(s, b, i).next, model.transition(s, a, i).next);
          EXPECT_NEAR(again.transition(s, b, i).probability, model.transition(s, a, i).probability,
                      1e-15);
          EXPECT_EQ(again.transition(s, b, i).reward, model.transition(s, a, i).reward);
        }
      }
    }
  }
  const std::string header = kHeader;
  EXPECT_EQ(complaint(folder, "m.csv", header + "0,0,1,1,0\n2,0,1,1,0\n0,0,1,1,0\n"),
            "m.csv:2: state '0', action '0': probabilities sum to 2, expected 1");
  EXPECT_EQ(complaint(folder, "m.csv", header + "0,0,1,1,0\n2,0,1,1,0\n0,0,1,1,5\n"),
            "m.csv:4: state '0', action '0': the transition to '1' is given twice, with rewards 0 "
            "and 5 (the other in line 2)");
}

TEST(Csv, NumbersWithGapsAreNames) {
  const Folder folder;
  const Model model =
      load(folder.write("m.csv", std::string(kHeader) + "10,0,20,1,0\n20,0,2000000000,1,0\n"));
  EXPECT_EQ(model.states(), 3);
  EXPECT_EQ(model.state_name(model.start()[0].state), "10");
  EXPECT_NE(model.find_state("2000000000"), kNone);
}

TEST(Csv, EqualTransitionsAddUp) {
  const Folder folder;
  const Model model =
      load(folder.write("m.csv", std::string(kHeader) + "0,0,1,.5,2\n0,0,1,.5,2\n"));
  EXPECT_TRUE(model.is_deterministic());
  EXPECT_EQ(model.transition(0, 0, 0).reward, 2);
}

TEST(Csv, FaultsNameTheLine) {
  const Folder folder;
  const std::string header = kHeader;
  const auto says = [&](const std::string& rows) { return complaint(folder, "m.csv", rows); };
  EXPECT_EQ(says(header + "0,0,1,.5,0\n0,0,2,.4,0\n"),
            "m.csv:2: state '0', action '0': probabilities sum to 0.9, expected 1");
  EXPECT_EQ(says(header + "0,0,1,.5,0\n0,0,1,.5,1\n"),
            "m.csv:3: state '0', action '0': the transition to '1' is given twice, with rewards 0 "
            "and 1 (the other in line 2)");
  EXPECT_EQ(says(header + "\"a\nb\",\"c\rd\",e,.5,0\n"),
            "m.csv:2: state 'a\\x0ab', action 'c\\x0dd': probabilities sum to 0.5, expected 1");
  EXPECT_EQ(says(header + std::string(1'000'000, 'a') + ",0,e,.5,0\n"),
            "m.csv:2: state '" + std::string(40, 'a') +
                "...', action '0': probabilities sum to 0.5, expected 1");
  EXPECT_NE(says(header + "0,0,1,1,nan\n").find("m.csv:2: column 'reward'"), std::string::npos);
  EXPECT_NE(says(header + "0,0,1,x,0\n").find("m.csv:2: column 'probability'"), std::string::npos);
  EXPECT_EQ(says(header + "0,0,1,1.5,0\n"),
            "m.csv:2: probability is 1.5, expected a number from 0 to 1");
  EXPECT_EQ(says(header), "m.csv: the model is empty: no transitions");
  EXPECT_NE(says("").find("m.csv"), std::string::npos);
  EXPECT_NE(says("state,action,next,probability,reward\n0,0,1,1,0\n").find("'next_state'"),
            std::string::npos);
  EXPECT_NE(says(header + "0,0,1,1\n").find("m.csv:2"), std::string::npos);
  EXPECT_NE(says(header + "0,,1,1,0\n").find("m.csv:2: column 'action'"), std::string::npos);
  EXPECT_NE(says(header + "0,0,1,1,0\n1,0,0,1,0\n1,,,,5\n").find("m.csv:4"), std::string::npos);
  EXPECT_NE(says(std::string("\x89PNG\r\n\x1a\n\0\0", 10)).find("m.csv:1"), std::string::npos);
}

// ---- DRN

constexpr const char* kDrn = R"(// Exported by storm
// Original model type: MDP
@type: MDP
@parameters

@reward_models
cost time 
@nr_states
4
@nr_choices
5
@model
state 0 [1, 7] init
//[x=0]
	action go [0.5, 0]
		1 : 0.25
		2 : 3/4
	action stay [0, 0]
		0 : 1
state 1 [0, 0] "two words" init
	action go [2, 0]
		3 : 1
state 2 [0, 0]
	action go [3, 0]
		2 : 1
state 3 [0, 9] deadlock
	action 0 [0, 0]
		3 : 1
)";

TEST(Drn, ReadsStormsFiles) {
  const Folder folder;
  const Model model = load(folder.write("m.drn", kDrn));
  EXPECT_EQ(model.states(), 4);
  EXPECT_EQ(model.actions(), 2);
  EXPECT_EQ(model.action_name(0), "go");
  EXPECT_EQ(model.state_name(0), "[x=0]");
  EXPECT_EQ(model.transition(0, 0, 1).probability, .75);
  EXPECT_EQ(model.transition(0, 0, 1).reward, 1.5);
  EXPECT_EQ(model.transition(0, 1, 0).reward, 1.0);
  EXPECT_FALSE(model.terminal(2));  // it returns to itself, but for a reward
  EXPECT_TRUE(model.terminal(3));
  ASSERT_EQ(model.start().size(), 2u);
  EXPECT_EQ(model.start()[1].state, 1);
  EXPECT_EQ(model.start()[1].probability, .5);
}

TEST(Drn, NamesAnUnknownPlaceholderInPlainText) {
  const Folder folder;
  const auto file = folder.write(
      "m.drn", "@type: DTMC\n@nr_states\n1\n@model\nstate 0 init\n\taction 0\n\t\t0 : $\x1b[2J\n");
  expect_user_error([&] { load(file); }, {"m.drn:7:", "unknown placeholder '$\\x1b[2J'"});
}

TEST(Drn, ReadsPlaceholdersChainsAndUnlabelledChoices) {
  const Folder folder;
  const Model chain = load(folder.write("m.drn", R"(@type: DTMC
@value_type: double
@parameters

@placeholders
$half : 0.5
@reward_models

@nr_states
2
@nr_choices
2
@model
state 0 init
	action 0
		0 : $half
		1 : $half
state 1
	action 0
		1 : 1
)"));
  EXPECT_EQ(chain.states(), 2);
  EXPECT_EQ(chain.transition(0, 0, 0).probability, .5);
  const Model unnamed = load(folder.write("u.drn", R"(@type: MDP
@parameters

@reward_models

@nr_states
2
@nr_choices
3
@model
state 0 [-1] init
	action a [-0.5]
		0 : 0.5
		1 : 0.5
	action b [2]
		1 : 1
state 1 [0]
	action a [0]
		1 : 1
)"));
  EXPECT_EQ(unnamed.transition(0, 0, 0).reward, -1.5);
  EXPECT_EQ(unnamed.transition(0, 1, 0).reward, 1.0);
  EXPECT_TRUE(unnamed.terminal(1));
  const Model twice = load(folder.write("n.drn", R"(@type: MDP
@reward_models
r
@nr_states
2
@model
state 0 [0]
	action a [1]
		1 : 1
	action a [2]
		1 : 1
	action __NOLABEL__ [3]
		1 : 1
state 1 [0]
	action a [0]
		1 : 1
)"));
  EXPECT_EQ(twice.actions(), 3);
  EXPECT_EQ(twice.transition(0, 1, 0).reward, 2);
}

TEST(Drn, FaultsNameTheLine) {
  const Folder folder;
  const auto says = [&](std::string from, const std::string& to) {
    std::string text = kDrn;
    text.replace(text.find(from), from.size(), to);
    return complaint(folder, "m.drn", text);
  };
  EXPECT_EQ(says("2 : 3/4", "2 : 0.5"),
            "m.drn:16: state '0', action 'go': probabilities sum to 0.75, expected 1");
  EXPECT_EQ(says("2 : 3/4", "9 : 3/4"), "m.drn:17: unknown state 9: @nr_states says 4");
  EXPECT_EQ(says("2 : 3/4", "2 : x"), "m.drn:17: expected a probability, found 'x'");
  EXPECT_EQ(says("[2, 0]", "[nan, 0]"), "m.drn:21: the reward is nan, expected a finite number");
  EXPECT_EQ(says("[2, 0]", "[2, 0"), "m.drn:21: ']' is missing");
  EXPECT_EQ(says("state 2", "state 3"), "m.drn:23: expected state 2, found state 3");
  EXPECT_EQ(says("@nr_states\n4", "@nr_states\n5"),
            "m.drn:28: the file ends after 4 states, @nr_states says 5");
  EXPECT_EQ(says("@type: MDP", "@type: CTMC"),
            "m.drn:3: models of type 'CTMC' are not taken, expected MDP, DTMC or POMDP");
  EXPECT_EQ(says("@parameters\n\n", "@parameters\np q\n"),
            "m.drn:5: the model has parameters: p q");
  EXPECT_EQ(says("\t\t3 : 1\n", ""), "m.drn:21: the action has no transitions");
  EXPECT_EQ(complaint(folder, "m.drn", "PK\x03\x04"),
            "m.drn:1: this is not a DRN file: expected a line with @, found 'PK\\x03\\x04'");
  EXPECT_EQ(complaint(folder, "m.drn", ""),
            "m.drn:1: this is not a DRN file: it ends before @model");
}

// ---- maps

TEST(Map, CellsMovesAndRewards) {
  const Folder folder;
  LoadOptions options;
  options.grid = {.step_reward = -2, .goal_reward = 5, .pit_reward = -7, .slip = 0};
  const Model model = load(folder.write("m.map", "S3#\n.!G\n"), options);
  EXPECT_EQ(model.states(), 5);
  EXPECT_EQ(model.state_name(model.start()[0].state), "0,0");
  const State three = model.find_state("0,1");
  EXPECT_EQ(model.transition(three, 0, 0).reward, -6);
  EXPECT_EQ(model.transition(three, 1, 0).next, three);  // the wall
  EXPECT_EQ(model.transition(0, 2, 0).next, model.find_state("1,0"));
  EXPECT_EQ(model.terminal_reward(model.find_state("1,1")), -7);
  EXPECT_EQ(model.terminal_reward(model.find_state("1,2")), 5);
  EXPECT_EQ(model.find_state("0,2"), kNone);
}

TEST(Map, SlipGoesSideways) {
  const Folder folder;
  const Model model = load_grid(folder.write("m.map", "...\nS..\n..G\n"), {.slip = 0.2});
  const State middle = model.find_state("1,1");
  ASSERT_EQ(model.transition_count(middle, 1), 3);
  for (const auto& [name, probability] : {std::pair{"1,2", .8}, {"0,1", .1}, {"2,1", .1}}) {
    double found = 0;
    for (int64_t i = 0; i < 3; ++i) {
      const auto t = model.transition(middle, 1, i);
      if (t.next == model.find_state(name)) found += t.probability;
    }
    EXPECT_NEAR(found, probability, 1e-15) << name;
  }
}

TEST(Map, SeveralStartsShareTheProbability) {
  const Folder folder;
  const Model model = load_grid(folder.write("m.map", "S.S\n.G.\n"));
  ASSERT_EQ(model.start().size(), 2u);
  EXPECT_EQ(model.start()[0].probability, .5);
}

TEST(Map, WithoutAMarkTheStartIsTheFirstCellThatDoesNotEnd) {
  const Folder folder;
  for (const double slip : {0.0, 0.1}) {
    const Model model = load_grid(folder.write("m.map", "#G!.\n....\n"), {.slip = slip});
    ASSERT_EQ(model.start().size(), 1u);
    EXPECT_EQ(model.state_name(model.start()[0].state), "0,3");
  }
  EXPECT_EQ(complaint(folder, "m.map", "G#\n!G\n"),
            "m.map: the map has no cell to start in, only walls and ends");
}

TEST(Map, FaultsNameLineAndColumn) {
  const Folder folder;
  const auto says = [&](const std::string& text) { return complaint(folder, "m.map", text); };
  EXPECT_EQ(says("S..\n.?.\n..G\n"),
            "m.map:2: column 2: unknown cell '?', expected one of #.SG!123456789");
  EXPECT_EQ(says("S..\n..\n..G\n"), "m.map:2: the row has 2 cells, the rows above have 3");
  EXPECT_EQ(says("S..\n\n..G\n"), "m.map:2: an empty line inside the map");
  EXPECT_EQ(says(""), "m.map: the map is empty: it has no free cell");
  EXPECT_EQ(says("##\n##\n"), "m.map: the map is empty: it has no free cell");
  LoadOptions slippery;
  slippery.grid.slip = 1.5;
  EXPECT_EQ(complaint(folder, "m.map", "SG\n", slippery),
            "the slip probability is 1.5, expected 0 to 1");
}

// ---- choosing a format, starts

TEST(Load, TheExtensionOrTheOptionChoosesTheFormat) {
  const Folder folder;
  EXPECT_EQ(load(folder.write("m.MAP", "SG\n")).states(), 2);
  LoadOptions options;
  options.format = "map";
  EXPECT_EQ(load(folder.write("m.csv", "SG\n"), options).states(), 2);
  EXPECT_NE(complaint(folder, "m.xyz", "SG\n").find("no format has the extension '.xyz'"),
            std::string::npos);
  options.format = "mapp";
  EXPECT_NE(complaint(folder, "m.xyz", "SG\n", options).find("(did you mean 'map'?)"),
            std::string::npos);
  EXPECT_THROW(load(folder.at("missing.csv")), UserError);
  EXPECT_THROW(save(load(folder.at("m.MAP")), folder.at("out.map")), UserError);
}

TEST(Load, StartsAreNamesUniformOrDistributions) {
  const Folder folder;
  const std::string file = folder.write("m.map", "S..\n..G\n");
  LoadOptions options;
  options.start = "1,0";
  EXPECT_EQ(load(file, options).start()[0].state, 3);
  options.start = "uniform";
  EXPECT_EQ(load(file, options).start().size(), 5u);
  options.start = "0,0:0.25 1,1:3/4";
  const Model model = load(file, options);
  ASSERT_EQ(model.start().size(), 2u);
  EXPECT_EQ(model.start()[1].probability, .75);
  for (const auto& [start, words] :
       {std::pair{"9,9", "start: unknown state '9,9'"},
        {"0,0:0.5 1,1:0.4", "start: the probabilities sum to 0.9, expected 1"},
        {"0,0:0.5 1,1", "start: expected NAME:PROBABILITY, found '1,1'"}}) {
    options.start = start;
    EXPECT_EQ(complaint(folder, "m.map", "S..\n..G\n", options).find(words), 0u) << start;
  }
}

// ---- round trips

TEST(RoundTrip, EveryFormatKeepsTheModel) {
  const Folder folder;
  const std::string map = folder.write("m.map", "S.2#\n.#.!\n...G\n");
  LoadOptions slippery;
  slippery.grid = {.step_reward = -1, .goal_reward = 3, .pit_reward = -4, .slip = .3};
  const auto check = [&](const Model& model, const char* format) {
    const std::string file = folder.at(std::string("out.") + format);
    save(model, file);
    const Model again = load(file);
    // Names come in the order of their first use, so compare what they mean.
    SolveOptions options;
    options.discount = .9;
    options.tolerance = 1e-12;
    const Solution one = solve(model, "vi", options), other = solve(again, "vi", options);
    ASSERT_EQ(model.states(), again.states());
    EXPECT_EQ(model.actions(), again.actions());
    EXPECT_EQ(model.transitions(), again.transitions());
    EXPECT_EQ(model.is_deterministic(), again.is_deterministic());
    for (State s = 0; s < model.states(); ++s) {
      const State t = again.find_state(model.state_name(s));
      ASSERT_NE(t, kNone) << model.state_name(s);
      EXPECT_NEAR(one.value[static_cast<size_t>(s)], other.value[static_cast<size_t>(t)], 1e-11);
    }
  };
  for (const char* format : {"csv", "drn"}) {
    check(load(map), format);
    check(load(map, slippery), format);
    check(load("decision-tree"), format);
    check(load("random(states=50,branching=3)"), format);
    check(load("random(states=50,branching=1)"), format);
    check(load("frozenlake4x4"), format);
    check(load("taxi"), format);
    check(load("maze(rows=7,cols=7,loops=1/3,slip=.1)"), format);
  }
}

TEST(RoundTrip, NumberedModelsComeBackTheSame) {
  const Folder folder;
  for (const char* format : {"csv", "drn"}) {
    for (const char* name : {"random(states=40)", "random(states=40,branching=1,terminals=3)"}) {
      const Model model = load(name);
      const std::string file = folder.at(std::string("out.") + format);
      EXPECT_TRUE(save(model, file).empty());
      expect_same(model, load(file));
    }
  }
}

TEST(RoundTrip, WhatIsLostIsSaid) {
  const Folder folder;
  EXPECT_EQ(save(load("taxi"), folder.at("t.csv"))[0], "the start distribution");
  EXPECT_EQ(save(load("cliffwalking"), folder.at("c.csv"))[0], "the start, '3,0'");
  EXPECT_EQ(save(load("frozenlake4x4"), folder.at("f.drn"))[0],
            "rewards that depend on the landing state (their means are written)");
  EXPECT_EQ(save(load("benchmark-grid(n=5)"), folder.at("b.drn")).back(), "the discount 0.99");
}

// ---- hostile input: a fault in one line, or a model; never anything else

TEST(Fuzz, MutatedFilesNeverCrash) {
  const Folder folder;
  const std::string cassandra =
      "discount: 0.9\nvalues: cost\nstates: a b c\nactions: l r\nobservations: 2\nstart: a\n"
      "T: * : * uniform\nT: l\nidentity\nT: r : a : b 0.5\nO: *\nuniform\n"
      "R: l : a : * : * 3.5\nR: r : b\n1 2\n3 4\n5 6\n";
  const std::vector<std::pair<std::string, std::string>> seeds{
      {"f.csv", std::string(kHeader) + "0,go,1,.25,-1\n0,go,2,.75,-2\n1,go,2,1,3\n2,,,,7\n"},
      {"f.drn", kDrn},
      {"f.map", "S.2#\n.#.!\n...G\n"},
      {"f.pomdp", cassandra}};
  const std::string alphabet = "0123456789.,:;*#-+eE/ \n\t\"'[]{}@$nasTROxyz\r\x00\x80\xff";
  int accepted = 0;
  for (const auto& [name, text] : seeds) {
    for (uint32_t round = 0; round < 1500; ++round) {
      Rng rng(7, round);
      std::string mutated = text;
      for (uint32_t i = rng.below(4) + 1; i > 0 && !mutated.empty(); --i) {
        const uint32_t at = rng.below(static_cast<uint32_t>(mutated.size()));
        switch (rng.below(4)) {
          case 0:
            mutated[at] = alphabet[rng.below(static_cast<uint32_t>(alphabet.size()))];
            break;
          case 1:
            mutated.erase(at, rng.below(5) + 1);
            break;
          case 2:
            mutated.insert(at, mutated.substr(rng.below(static_cast<uint32_t>(mutated.size())),
                                              rng.below(12)));
            break;
          default:
            mutated.resize(at);
        }
      }
      const std::string file = folder.write(name, mutated);
      try {
        const Model model = load(file);
        EXPECT_GT(model.states(), 0);
        ++accepted;
      } catch (const UserError& error) {
        EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
      }
    }
  }
  EXPECT_GT(accepted, 100);
}

TEST(Maps, RulesOfMapsAreRefusedElsewhere) {
  LoadOptions options;
  options.grid.step_reward = -1000.0;
  EXPECT_THROW(load("maze", options), UserError);
  const Scratch scratch;
  EXPECT_EQ(load(scratch.put("line.map", "S..G\n"), options).rewards()[0], -1000.0);
}

}  // namespace
}  // namespace agora::planning
