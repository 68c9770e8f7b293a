#include "agents/epistemic/belief.h"

#include <agora/planning/builder.h>

#include <cmath>
#include <cstring>
#include <map>
#include <unordered_map>

#include "base/error.h"
#include "base/signals.h"

namespace agora::agents::epistemic {
namespace {

using planning::Action;
using planning::Model;
using planning::State;

// Likelihoods that differ by rounding alone are the same.
constexpr double kGrain = 0x1p40;

class Space {
 public:
  Space(const Problem& problem, const BeliefOptions& options)
      : problem_(problem), options_(options) {}

  // What is known after `likelihood` of an episode that got to `state`; the number of the belief.
  State add(State state, std::vector<double> likelihood) {
    double most = 0;
    for (size_t i = 0; i < likelihood.size(); ++i) {
      if (problem_.members[i].weight <= 0) likelihood[i] = 0;
      most = std::max(most, likelihood[i]);
    }
    std::string key(sizeof state + likelihood.size() * sizeof(int64_t), '\0');
    std::memcpy(key.data(), &state, sizeof state);
    for (size_t i = 0; i < likelihood.size(); ++i) {
      likelihood[i] /= most;
      const auto grains = static_cast<int64_t>(std::llround(likelihood[i] * kGrain));
      std::memcpy(key.data() + sizeof state + i * sizeof grains, &grains, sizeof grains);
    }
    const auto [found, is_new] = index_.try_emplace(std::move(key), static_cast<State>(all.size()));
    if (!is_new) return found->second;
    if (static_cast<int64_t>(all.size()) >= options_.most) {
      throw user_error(
          "{}: more than {} beliefs can be reached; {}", problem_.name, options_.most,
          problem_.horizon > 0 ? "a shorter horizon has fewer" : "with a horizon there are fewer");
    }
    Belief belief{state, std::move(likelihood), {}};
    double sum = 0;
    for (size_t i = 0; i < belief.likelihood.size(); ++i) {
      belief.weight.push_back(problem_.members[i].weight * belief.likelihood[i]);
      sum += belief.weight.back();
    }
    for (double& weight : belief.weight) weight /= sum;
    all.push_back(std::move(belief));
    return found->second;
  }

  std::vector<Belief> all;

 private:
  const Problem& problem_;
  const BeliefOptions& options_;
  std::unordered_map<std::string, State> index_;
};

// What can be seen next, and how likely each member shows it.
using Outcomes = std::map<std::pair<State, double>, std::vector<double>>;

Outcomes outcomes(const Problem& problem, const Belief& belief, Action a, bool sees_rewards) {
  Outcomes all;
  for (size_t i = 0; i < problem.members.size(); ++i) {
    if (belief.weight[i] <= 0) continue;
    const Model& model = problem.members[i].model;
    for (int64_t k = 0; k < model.transition_count(belief.state, a); ++k) {
      const Model::Transition t = model.transition(belief.state, a, k);
      if (t.probability <= 0) continue;
      auto& chances = all[{t.next, sees_rewards ? t.reward : 0}];
      chances.resize(problem.members.size());
      chances[i] += t.probability;
    }
  }
  return all;
}

}  // namespace

BayesOptimum bayes_optimum(const Problem& problem, const BeliefOptions& options) {
  Space space(problem, options);
  const size_t members = problem.members.size();
  std::map<State, std::vector<double>> starts;
  for (size_t i = 0; i < members; ++i) {
    for (const planning::Start& start : problem.members[i].model.start()) {
      auto& chances = starts[start.state];
      chances.resize(members);
      chances[i] += start.probability;
    }
  }
  planning::ModelBuilder builder;
  for (const auto& [state, chances] : starts) {
    double chance = 0;
    for (size_t i = 0; i < members; ++i) chance += problem.members[i].weight * chances[i];
    if (chance > 0) builder.start(space.add(state, chances), chance);
  }
  const Model& first = problem.first();
  for (size_t at = 0; at < space.all.size(); ++at) {
    if (at % 1024 == 0) throw_if_stopped();
    const Belief belief = space.all[at];
    const auto here = static_cast<State>(at);
    double end = 0;
    for (size_t i = 0; i < members; ++i) {
      if (belief.weight[i] > 0 && first.terminal(belief.state)) {
        end += belief.weight[i] * problem.members[i].model.terminal_reward(belief.state);
      }
    }
    if (first.terminal(belief.state)) builder.terminal_reward(here, end);
    for (Action a = 0; a < first.actions(); ++a) {
      if (!first.has(belief.state, a)) continue;
      double reward = 0;
      for (size_t i = 0; i < members; ++i) {
        if (belief.weight[i] > 0) {
          reward += belief.weight[i] * problem.members[i].model.expected_reward(belief.state, a);
        }
      }
      for (auto& [seen, chances] : outcomes(problem, belief, a, options.sees_rewards)) {
        double chance = 0;
        std::vector<double> likelihood = belief.likelihood;
        for (size_t i = 0; i < members; ++i) {
          chance += belief.weight[i] * chances[i];
          likelihood[i] *= chances[i];
        }
        builder.add(here, a, space.add(seen.first, std::move(likelihood)), chance, reward);
      }
    }
  }
  builder.reserve(static_cast<State>(space.all.size()), first.actions());
  builder.discount(first.discount());
  BayesOptimum best{0, std::move(space.all), builder.build(), {}, {}};
  planning::Solution solution = planning::solve(best.model, "pi", {.tolerance = options.tolerance});
  best.value = planning::start_value(best.model, solution);
  for (State b = 0; b < best.model.states(); ++b) best.actions.push_back(solution.policy.best(b));
  best.values = std::move(solution.value);
  return best;
}

std::vector<Action> BayesOptimum::plan(size_t most) const {
  std::vector<Action> all;
  const auto start =
      std::max_element(model.start().begin(), model.start().end(),
                       [](const auto& a, const auto& b) { return a.probability < b.probability; });
  State at = start->state;
  while (all.size() < most && at != planning::kNone && !model.terminal(at)) {
    const Action a = actions[static_cast<size_t>(at)];
    all.push_back(a);
    double likeliest = 0;
    State next = planning::kNone;
    for (int64_t k = 0; k < model.transition_count(at, a); ++k) {
      const Model::Transition t = model.transition(at, a, k);
      if (model.terminal(t.next) || t.probability <= likeliest) continue;
      likeliest = t.probability;
      next = t.next;
    }
    at = next == at ? planning::kNone : next;
  }
  return all;
}

}  // namespace agora::agents::epistemic
