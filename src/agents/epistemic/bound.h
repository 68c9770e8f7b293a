#pragma once
#include <vector>

#include "agents/epistemic/problem.h"
#include "agents/policy.h"

// What section 3.5 rests on: policies of the members, one policy that imitates them, and what the
// latter earns at least.
namespace agora::agents::epistemic {

// The best policy of an MDP, and the one that also earns `temperature` times its entropy in every
// state (discounted alike). Without a discount the latter may have no bound: a user error.
planning::Policy mdp_optimum(const planning::Model& model);
planning::Policy maximum_entropy(const planning::Model& model, double temperature);

// Policies of states as one: the largest of each probability, scaled to a distribution, or the
// mean.
planning::Policy linked(const Problem& problem, const std::vector<planning::Policy>& policies,
                        Link link);

struct LowerBound {
  double value = 0;       // eq. lower_bound
  double earned = 0;      // its first term: what the policies earn, each in its own member
  double distance = 0;    // the weighted mean of E[sqrt KL(pi_i || pi)]
  double divergence = 0;  // the same without the root, as LEEP's loss has it: bounds nothing
  double factor = 0;      // sqrt 2 r_max / (1 - discount)^2
};
// Of `policy` by `policies`, one per member; needs a discount below one.
LowerBound lower_bound(const Problem& problem, const planning::Policy& policy,
                       const std::vector<planning::Policy>& policies);
// What prop. link-version maximises, with a penalty of `factor` times as much as its least alpha.
double linked_objective(const Problem& problem, const std::vector<planning::Policy>& policies,
                        Link link, double factor = 1);

}  // namespace agora::agents::epistemic
