#pragma once
#include <vector>

#include "agents/epistemic/problem.h"

namespace agora::agents::epistemic {

struct BeliefOptions {
  bool sees_rewards = false;  // not only states: the thesis's o_t is s_t
  int64_t most = 200'000;     // beliefs; more are the user's mistake
  double tolerance = 1e-10;   // of the value
};

// One thing that may have become of an episode: a state and what is known of the members by then.
struct Belief {
  planning::State state;
  std::vector<double> likelihood;  // (members) of what was seen, the largest is 1
  std::vector<double> weight;      // (members) the posterior
};

// The best policy that remembers: dynamic programming over all beliefs that can be reached, which
// are the states of an MDP that planning solves.
struct BayesOptimum {
  double value = 0;
  std::vector<Belief> beliefs;
  planning::Model model;                  // whose states are the beliefs
  std::vector<double> values;             // (beliefs)
  std::vector<planning::Action> actions;  // (beliefs), kNone where an episode is over

  // What is done, belief by belief, while what is likeliest happens that does not end the episode.
  std::vector<planning::Action> plan(size_t most = 20) const;
};
BayesOptimum bayes_optimum(const Problem& problem, const BeliefOptions& options = {});

}  // namespace agora::agents::epistemic
