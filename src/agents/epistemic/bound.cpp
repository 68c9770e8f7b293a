#include "agents/epistemic/bound.h"

#include <cmath>
#include <numbers>

#include "agents/epistemic/chain.h"
#include "base/error.h"

namespace agora::agents::epistemic {
namespace {

using planning::Action;
using planning::Model;
using planning::Policy;
using planning::State;

// The reward of an end is part of the step that leads to it.
double largest_reward(const Model& model) {
  double largest = 0;
  for (State s = 0; s < model.states(); ++s) {
    for (Action a = 0; a < model.actions(); ++a) {
      if (!model.has(s, a)) continue;
      double reward = model.expected_reward(s, a);
      for (int64_t i = 0; i < model.transition_count(s, a); ++i) {
        const Model::Transition t = model.transition(s, a, i);
        if (model.terminal(t.next)) {
          reward += model.discount() * t.probability * model.terminal_reward(t.next);
        }
      }
      largest = std::max(largest, std::abs(reward));
    }
  }
  return largest;
}

// u - log(1 + u), also where u is small.
double excess(double u) {
  return std::abs(u) < 1e-4 ? u * u * (0.5 - u * (1.0 / 3 - u / 4)) : u - std::log1p(u);
}

// KL(p || q) as a sum of terms that are not negative, so that its root is right for policies that
// nearly agree.
double divergence(const Policy& p, const Policy& q, State s) {
  double sum = 0;
  for (Action a = 0; a < p.actions; ++a) {
    sum += p(s, a) > 0 ? p(s, a) * excess((q(s, a) - p(s, a)) / p(s, a)) : q(s, a);
  }
  return sum;
}

}  // namespace

Policy mdp_optimum(const Model& model) {
  return planning::solve(model, "pi", {.tolerance = 1e-10}).policy;
}

Policy maximum_entropy(const Model& model, double temperature) {
  if (temperature == 0) return mdp_optimum(model);
  return planning::solve(model, "soft-vi", {.beta = 1 / temperature, .mu = 0.0, .tolerance = 1e-10})
      .policy;
}

Policy linked(const Problem& problem, const std::vector<Policy>& policies, Link link) {
  const Model& model = problem.first();
  Policy one{model.actions(), {}, {}};
  for (State s = 0; s < model.states(); ++s) {
    const size_t from = one.probabilities.size();
    double sum = 0;
    for (Action a = 0; a < model.actions(); ++a) {
      double p = 0;
      for (const Policy& each : policies) {
        p = link == Link::kMax ? std::max(p, each(s, a)) : p + each(s, a);
      }
      one.probabilities.push_back(p);
      sum += p;
    }
    for (size_t k = from; sum > 0 && k < one.probabilities.size(); ++k) one.probabilities[k] /= sum;
  }
  return one;
}

LowerBound lower_bound(const Problem& problem, const Policy& policy,
                       const std::vector<Policy>& policies) {
  const double discount = problem.first().discount();
  if (!(discount < 1)) {
    throw user_error("{}: the lower bound needs a discount below 1", problem.name);
  }
  CHECK(policies.size() == problem.members.size(), "{} policies for {} members", policies.size(),
        problem.members.size());
  LowerBound bound;
  double r_max = 0;
  for (size_t i = 0; i < policies.size(); ++i) {
    const Member& member = problem.members[i];
    r_max = std::max(r_max, largest_reward(member.model));
    const Chain chain(member.model, policies[i]);
    bound.earned += member.weight * chain.start_value;
    for (State s = 0; s < member.model.states(); ++s) {
      if (member.model.terminal(s) || chain.visits[s] <= 0) continue;
      const double share = member.weight * (1 - discount) * chain.visits[s];
      const double apart = divergence(policies[i], policy, s);
      bound.distance += share * std::sqrt(apart);
      bound.divergence += share * apart;
    }
  }
  bound.factor = std::numbers::sqrt2 * r_max / ((1 - discount) * (1 - discount));
  bound.value = bound.distance == 0 ? bound.earned : bound.earned - bound.factor * bound.distance;
  return bound;
}

double linked_objective(const Problem& problem, const std::vector<Policy>& policies, Link link,
                        double factor) {
  const LowerBound bound = lower_bound(problem, linked(problem, policies, link), policies);
  return bound.earned - (bound.distance == 0 ? 0 : factor * bound.factor * bound.distance);
}

}  // namespace agora::agents::epistemic
