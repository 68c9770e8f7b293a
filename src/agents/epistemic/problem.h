#pragma once
#include <agora/planning/model.h>
#include <agora/planning/solve.h>

#include <cstdint>
#include <string>
#include <vector>

// Chapter 3: which of several MDPs an episode is played in, nobody tells. They share states,
// actions and a discount; a posterior says how likely each is.
namespace agora::agents::epistemic {

struct Member {
  std::string name;
  planning::Model model;
  double weight = 0;  // of the posterior
};

struct Problem {
  std::string name;
  std::vector<Member> members;
  // MDPs that somebody may take for the truth: what was seen in training, or a surrogate. Of the
  // same states and actions, but no part of the posterior: weights mean nothing.
  std::vector<Member> believed = {};
  // (states): the state as a policy without memory sees it. With a horizon, states are numbered by
  // time and state, and only the latter is seen.
  std::vector<planning::State> seen = {};
  planning::State views = 0;  // how many there are
  int64_t horizon = 0;        // steps of an episode at most; 0: no limit

  const planning::Model& first() const { return members.front().model; }
  const Member& likeliest() const;  // the first of equals
  // How a policy calls what it sees.
  std::string view_name(planning::State view) const { return first().state_name(view); }
};

// What the parts have to agree on, and weights that are a distribution, are checked here: anything
// else is the user's mistake. `seen` is filled in.
Problem make_problem(std::string name, std::vector<Member> members,
                     std::vector<Member> believed = {});
// Weights that are no distribution are the user's mistake; sums within 1e-6 of one are scaled.
std::vector<double> checked_weights(const std::string& name, std::vector<double> weights);

// The same for so many steps: who does not end by then earns no more.
Problem cut_off(const Problem& problem, int64_t horizon);

// The posterior after transitions seen in the true MDP. Evidence that no member can give is the
// user's mistake.
struct Seen {
  planning::State state;
  planning::Action action;
  planning::State next;
};
Problem after(const Problem& problem, const std::vector<Seen>& evidence);

// The empirical epistemic POMDP: so many members drawn by their weights, each weighing the same.
Problem sampled(const Problem& problem, int64_t count, uint64_t seed);

// What a policy of states earns, in every member and on average: eq. pomdp_objective. -infinity
// where, without a discount, it may never end.
double return_in(const planning::Model& model, const planning::Policy& policy);
std::vector<double> returns_of(const Problem& problem, const planning::Policy& policy);
double return_of(const Problem& problem, const planning::Policy& policy);

// A policy of what is seen as one of states.
planning::Policy spread(const Problem& problem, const planning::Policy& policy);
planning::Policy uniform(const Problem& problem);

}  // namespace agora::agents::epistemic
