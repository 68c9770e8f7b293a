#include "agents/epistemic/problem.h"

#include <cmath>
#include <numeric>

#include "agents/epistemic/chain.h"
#include "agents/streams.h"
#include "base/error.h"
#include "base/rng.h"
#include "planning/optimum/evaluation.h"

namespace agora::agents::epistemic {
namespace {

using planning::Action;
using planning::Model;
using planning::Policy;
using planning::State;

constexpr int64_t kMostStates = 100'000;  // of a problem with a horizon
constexpr State kMostDense = 500;         // states of a model that is solved in one piece
constexpr double kSumTolerance = 1e-6;

void expect_alike(const std::string& name, const Member& first, const Member& other) {
  const Model &a = first.model, &b = other.model;
  if (a.states() != b.states() || a.actions() != b.actions()) {
    throw user_error("{}: {} has {} states and {} actions, {} has {} and {}", name, first.name,
                     a.states(), a.actions(), other.name, b.states(), b.actions());
  }
  if (a.discount() != b.discount()) {
    throw user_error("{}: {} has the discount {}, {} has {}", name, first.name, a.discount(),
                     other.name, b.discount());
  }
  for (State s = 0; s < a.states(); ++s) {
    for (Action action = 0; action < a.actions(); ++action) {
      if (a.has(s, action) == b.has(s, action)) continue;
      throw user_error("{}: action {} exists in state '{}' of only one of {} and {}", name,
                       a.action_name(action), a.state_name(s), first.name, other.name);
    }
  }
}

Model unrolled(const Model& model, int64_t horizon) {
  const State states = model.states();
  std::vector<uint32_t> row_begin{0};
  std::vector<State> next;
  std::vector<double> probability, rewards;
  std::vector<planning::Terminal> terminals;
  for (int64_t t = 0; t <= horizon; ++t) {
    for (State s = 0; s < states; ++s) {
      const auto now = static_cast<State>(t * states + s);
      if (model.terminal(s)) terminals.push_back({now, model.terminal_reward(s)});
      for (Action a = 0; a < model.actions(); ++a) {
        for (int64_t i = 0; t < horizon && i < model.transition_count(s, a); ++i) {
          const Model::Transition one = model.transition(s, a, i);
          next.push_back(static_cast<State>((t + 1) * states + one.next));
          probability.push_back(one.probability);
          rewards.push_back(one.reward);
        }
        row_begin.push_back(static_cast<uint32_t>(next.size()));
      }
    }
  }
  Model made = Model::stochastic(model.actions(), std::move(row_begin), std::move(next),
                                 std::move(probability), planning::Rewards(std::move(rewards)),
                                 std::move(terminals));
  made.set_discount(model.discount());
  made.set_start({model.start().begin(), model.start().end()});
  std::vector<std::string> names, actions;
  for (int64_t t = 0; t <= horizon; ++t) {
    for (State s = 0; s < states; ++s) {
      names.push_back(t == 0 ? model.state_name(s)
                             : fmt::format("{} at {}", model.state_name(s), t));
    }
  }
  for (Action a = 0; a < model.actions(); ++a) actions.push_back(model.action_name(a));
  made.set_state_names(std::move(names));
  made.set_action_names(std::move(actions));
  return made;
}

}  // namespace

const Member& Problem::likeliest() const {
  const Member* best = members.data();
  for (const Member& each : members) {
    if (each.weight > best->weight) best = &each;
  }
  return *best;
}

std::vector<double> checked_weights(const std::string& name, std::vector<double> weights) {
  double sum = 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    if (!(weights[i] >= 0) || std::isinf(weights[i])) {
      throw user_error("{}: weight {} is {}, expected a number that is not negative", name, i + 1,
                       weights[i]);
    }
    sum += weights[i];
  }
  if (!(std::abs(sum - 1) <= kSumTolerance)) {
    throw user_error("{}: the weights sum to {}, expected 1", name, sum);
  }
  for (double& weight : weights) weight /= sum;
  return weights;
}

Problem make_problem(std::string name, std::vector<Member> members, std::vector<Member> believed) {
  if (members.empty()) throw user_error("{}: there is no model", name);
  std::vector<double> weights;
  for (const Member& each : members) weights.push_back(each.weight);
  weights = checked_weights(name, std::move(weights));
  for (size_t i = 0; i < members.size(); ++i) members[i].weight = weights[i];
  for (const Member& each : members) expect_alike(name, members.front(), each);
  for (const Member& each : believed) expect_alike(name, members.front(), each);
  Problem problem{std::move(name), std::move(members), std::move(believed)};
  problem.views = problem.first().states();
  problem.seen.resize(static_cast<size_t>(problem.views));
  std::iota(problem.seen.begin(), problem.seen.end(), 0);
  return problem;
}

Problem cut_off(const Problem& problem, int64_t horizon) {
  CHECK(problem.horizon == 0 && horizon > 0, "{} {}", problem.horizon, horizon);
  const State states = problem.first().states();
  if ((horizon + 1) * states > kMostStates) {
    throw user_error("{}: {} states for each of {} steps are too many; {} together are possible",
                     problem.name, states, horizon, kMostStates);
  }
  Problem cut = problem;
  cut.horizon = horizon;
  for (Member& each : cut.members) each.model = unrolled(each.model, horizon);
  for (Member& each : cut.believed) each.model = unrolled(each.model, horizon);
  cut.seen.clear();
  for (State s = 0; s < cut.first().states(); ++s) cut.seen.push_back(s % states);
  return cut;
}

Problem after(const Problem& problem, const std::vector<Seen>& evidence) {
  Problem known = problem;
  double sum = 0;
  for (Member& each : known.members) {
    for (const Seen& one : evidence) {
      double likelihood = 0;
      for (int64_t i = 0; i < each.model.transition_count(one.state, one.action); ++i) {
        const Model::Transition t = each.model.transition(one.state, one.action, i);
        if (t.next == one.next) likelihood += t.probability;
      }
      each.weight *= likelihood;
    }
    sum += each.weight;
  }
  if (!(sum > 0)) throw user_error("{}: no model can give what was seen", problem.name);
  for (Member& each : known.members) each.weight /= sum;
  return known;
}

Problem sampled(const Problem& problem, int64_t count, uint64_t seed) {
  Problem drawn = problem;
  drawn.members.clear();
  for (int64_t k = 0; k < count; ++k) {
    double luck = Rng(seed, stream(Stream::kBootstrap), 0, static_cast<uint32_t>(k)).uniform();
    const Member* chosen = nullptr;
    for (const Member& each : problem.members) {
      if (each.weight <= 0) continue;
      chosen = &each;
      if ((luck -= each.weight) < 0) break;
    }
    drawn.members.push_back(*chosen);
    drawn.members.back().weight = 1 / static_cast<double>(count);
  }
  return drawn;
}

double return_in(const Model& model, const Policy& policy) {
  if (model.discount() == 1) {
    const std::vector<char> ends = planning::surely_ends(model, policy);
    for (const planning::Start& start : model.start()) {
      if (start.probability > 0 && !ends[static_cast<size_t>(start.state)]) return -INFINITY;
    }
  }
  if (model.states() <= kMostDense) return Chain(model, policy).start_value;
  const std::vector<double> value = planning::evaluate(model, policy, std::nullopt, 1e-12);
  double sum = 0;
  for (const planning::Start& start : model.start()) {
    if (start.probability > 0) sum += start.probability * value[static_cast<size_t>(start.state)];
  }
  return sum;
}

std::vector<double> returns_of(const Problem& problem, const Policy& policy) {
  std::vector<double> each;
  for (const Member& member : problem.members) each.push_back(return_in(member.model, policy));
  return each;
}

double return_of(const Problem& problem, const Policy& policy) {
  const std::vector<double> each = returns_of(problem, policy);
  double sum = 0;
  for (size_t i = 0; i < each.size(); ++i) {
    if (problem.members[i].weight > 0) sum += problem.members[i].weight * each[i];
  }
  return sum;
}

Policy spread(const Problem& problem, const Policy& policy) {
  const Model& model = problem.first();
  Policy wide{
      model.actions(), std::vector<double>(static_cast<size_t>(model.row(model.states(), 0))), {}};
  for (State s = 0; s < model.states(); ++s) {
    for (Action a = 0; a < model.actions(); ++a) {
      if (model.has(s, a)) {
        wide.probabilities[static_cast<size_t>(model.row(s, a))] =
            policy(problem.seen[static_cast<size_t>(s)], a);
      }
    }
  }
  return wide;
}

Policy uniform(const Problem& problem) { return planning::uniform_policy(problem.first()); }

}  // namespace agora::agents::epistemic
