// What is broken on purpose in the results of chapter 3.
#include "sabotage.h"

namespace agora::reproduce {
namespace {

TEST(Sabotage, OfGuessing) {
  const std::string name = "ch3-fashion-mnist";
  const auto at_the_end = [](Json& result, const char* stage) -> Json& {
    Json& seen = result[stage]["seen"];
    return seen[seen.size() - 1];
  };
  // Ten labels that are as good as drawn: 18 wrong guesses of 20, or 1 + 7.8; 4.5 by elimination.
  const auto untrained_dqn = [&](Json& result) {
    for (const char* part : {"train", "test"}) {
      at_the_end(result, "dqn")[part] = {{"dqn", -18.0}, {"uniform", -7.9}};
    }
  };
  const auto untrained_classifier = [&](Json& result) {
    for (const char* part : {"train", "test"}) {
      at_the_end(result, "classifier")[part] = {{"adaptive", -4.5}, {"memoryless", -7.9}};
    }
  };
  const auto exchanged = [&](const char* one, const char* other) {
    return [=](Json& result) {
      Json& seen = at_the_end(result, "dqn")["test"];
      Json all = seen;
      all.update(at_the_end(result, "classifier")["test"]);
      for (const char* stage : {"dqn", "classifier"}) {
        Json& test = at_the_end(result, stage)["test"];
        if (test.contains(one)) test[one] = all[other];
        if (test.contains(other)) test[other] = all[one];
      }
    };
  };
  const auto stage = [](const Json& train, const Json& test) {
    return Json{{"seen", Json::array({{{"updates", 1}, {"train", train}, {"test", test}}})}};
  };
  const Trial trials[] = {
      quick(name), full(name, {{"dqn", stage({{"dqn", -0.05}, {"uniform", -0.02}},
                                             {{"dqn", -2.6}, {"uniform", -1.14}})},
                               {"classifier", stage({{"adaptive", -0.01}, {"memoryless", -0.1}},
                                                    {{"adaptive", -0.2}, {"memoryless", -1.0}})}})};
  for (const Trial& trial : trials) {
    trial.notices("DQN untrained", untrained_dqn);
    trial.notices("classifier untrained", untrained_classifier);
    trial.notices("DQN and uniform exchanged", exchanged("dqn", "uniform"));
    trial.notices("uniform and adaptive exchanged", exchanged("uniform", "adaptive"));
    trial.notices("adaptive and memoryless exchanged", exchanged("adaptive", "memoryless"));
    trial.notices("a DQN that eliminates", [&](Json& result) {
      at_the_end(result, "dqn")["test"]["dqn"] = at_the_end(result, "dqn")["test"]["uniform"];
    });
    trial.notices("tested on what was learned from", [&](Json& result) {
      for (const char* part : {"dqn", "classifier"}) {
        at_the_end(result, part)["test"] = at_the_end(result, part)["train"];
      }
    });
  }
}

TEST(Sabotage, OfPropositions) {
  const Trial trial = quick("ch3-propositions");
  const auto set = [](const char* path, double value) {
    return [path = JsonPath(path), value](Json& result) { result.at(path) = value; };
  };
  trial.notices("guesses in proportion to p, not to its root", set("/drawn/root", 0.05));
  trial.notices("a memory that repeats a guess", set("/drawn/elimination", 0.01));
  trial.notices("maximum entropy of another temperature", set("/drawn/entropy", 0.02));
  trial.notices("an optimum that is not the likeliest MDP's",
                set("/guesses/4/deterministic", -20 * (1 - 0.5 / 9)));
  trial.notices("a search that stops at the uniform policy", [](Json& result) {
    result["switching"][6]["best"] = result["switching"][6]["uniform"];
  });
  trial.notices("a best policy that follows an MDP", set("/two_switches/shared", 2));
  trial.notices("a tree whose round has one move more", [](Json& result) {
    for (Json& one : result["trees"]) one["apart"] = 0.1;
  });
  trial.notices("maximum entropy as good as the best",
                [](Json& result) { result["trees"][3]["entropy"] = result["trees"][3]["best"]; });
  trial.notices("a bound that does not hold", set("/bounds/slack", -1e-6));
  trial.notices("policies that are all the same", set("/bounds/wrong", 0));
  trial.notices("an objective without its penalty", set("/bounds/beyond", 0.3));
}

TEST(Sabotage, OfTheZookeeper) {
  const Trial trial = quick("ch3-zookeeper");
  const auto all = [](Json& result, double train, double test) {
    for (Json& look : result["ppo"]["seen"]) look["train"] = train, look["test"] = test;
  };
  trial.notices("untrained", [&](Json& result) { all(result, 0.39, 0.39); });
  trial.notices("only peeks", [&](Json& result) { all(result, 0.95, 0.95); });
  trial.notices("new zoos that are not new", [](Json& result) {
    for (Json& look : result["ppo"]["seen"]) look["test"] = look["train"];
  });
  trial.notices("seen and new zoos exchanged", [](Json& result) {
    for (Json& look : result["ppo"]["seen"]) std::swap(look["train"], look["test"]);
  });
  trial.notices("peeks in no zoo", [](Json& result) { result["exact"][2]["peeks"] = 0.0; });
  trial.notices("reads maps that it cannot read",
                [](Json& result) { result["exact"][2]["bayes"] = 0.6; });
}

// As a policy that learned nothing.
void forget(Json& result, const std::string& game, const std::string& stage) {
  for (const char* levels : {"train", "test"})
    result[stage][levels] = result[game + "-random"][levels];
}

TEST(Sabotage, OfGames) {
  const Trial games = quick("ch3-four-games");
  for (const std::string stage : {"maze-ppo", "maze-leep", "heist-ppo", "heist-leep"}) {
    games.notices(stage + " untrained",
                  [&](Json& result) { forget(result, stage.substr(0, stage.find('-')), stage); });
  }
  const Trial few = quick("ch3-fifty-levels");
  few.notices("PPO untrained", [](Json& result) { forget(result, "maze", "ppo"); });
  few.notices("PPO and LEEP exchanged",
              [](Json& result) { std::swap(result["ppo"], result["leep"]); });
  few.notices("unseen levels that are not unseen",
              [](Json& result) { result["ppo"]["test"] = result["ppo"]["train"]; });
}

TEST(Sabotage, OfEnsembles) {
  // What a penalty of a hundredth leaves.
  const auto alone = [](const std::string& stage) {
    return [=](Json& result) { result[stage]["numbers"]["disagreement"] = 0.017; };
  };
  const auto equal = [](const std::string& stage) {
    return [=](Json& result) { result[stage]["numbers"]["disagreement"] = 0.0; };
  };
  const Trial parts = quick("ch3-ablations");
  for (const std::string stage : {"leep", "leep-average", "distral"}) {
    parts.notices(stage + " without its penalty", alone(stage));
    parts.notices(stage + " with members that are all the same", equal(stage));
  }
  const Trial members = quick("ch3-members");
  for (const std::string stage : {"n2", "n4", "n8"}) {
    members.notices(stage + " without its penalty", alone(stage));
    members.notices(stage + " with members that are all the same", equal(stage));
  }
  members.notices("one member that differs from itself", alone("n1"));
  const Trial penalty = quick("ch3-penalty");
  for (const std::string stage : {"maze-0.1", "maze-1", "maze-10"}) {
    penalty.notices(stage + " is not applied", alone(stage));
  }
}

TEST(Sabotage, OfTheContext) {
  const Trial trial = quick("ch3-context");
  trial.notices("an encoder that guesses",
                [](Json& result) { result["maze-context"]["numbers"]["level_accuracy"] = 0.1; });
  trial.notices("a context that tells unseen levels", [](Json& result) {
    result["maze-context"]["test"] = result["maze-ppo"]["test"].get<double>() + 2;
  });
}

}  // namespace
}  // namespace agora::reproduce
