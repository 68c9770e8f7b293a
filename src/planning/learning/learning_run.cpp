#include "planning/learning/learning_run.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/thread_pool.h"
#include "planning/learning/learning_update.h"

namespace agora::planning {
namespace {

constexpr double kImpossible = -std::numeric_limits<double>::infinity();
constexpr uint32_t kEpisodes = 0x6c6e0000, kGreedy = 0x67720000;  // streams, plus the run

size_t draw(std::span<const double> policy, Rng& rng) {
  double luck = rng.uniform();
  size_t last = 0;
  for (size_t a = 0; a < policy.size(); ++a) {
    if (policy[a] <= 0) continue;
    last = a;
    luck -= policy[a];
    if (luck < 0) break;
  }
  return last;
}

void check(const LearningOptions& options, const Learner& learner, const Model& model) {
  check_members(learner.name, learner.parameters, options);
  if (options.exploration != "epsilon-greedy" && options.exploration != "boltzmann") {
    throw user_error(
        "exploration: unknown strategy '{}'{}; there are epsilon-greedy and "
        "boltzmann",
        options.exploration, suggestion(options.exploration, {"epsilon-greedy", "boltzmann"}));
  }
  if (std::all_of(model.start().begin(), model.start().end(),
                  [&](const Start& start) { return model.terminal(start.state); })) {
    throw user_error("the start state '{}' is terminal: there is nothing to learn",
                     model.state_name(model.start()[0].state));
  }
}

}  // namespace

std::vector<LearningParameter> learning_parameters() {
  return {
      parameter("epsilon", &LearningOptions::epsilon, 0, 1, "share of random actions"),
      parameter("alpha", &LearningOptions::alpha, kAboveZero, 1, "learning rate"),
      parameter("alpha-power", &LearningOptions::alpha_power, 0, 1,
                "divide the rate by (visits)^POWER; 0 keeps it"),
      parameter("beta", &LearningOptions::beta, kAboveZero, kFinite, "inverse temperature"),
      parameter("max-steps", &LearningOptions::max_steps, 1, kMost<int32_t>,
                "an episode is cut off after these"),
      parameter("runs", &LearningOptions::runs, 1, 65535, "independent runs"),
  };
}

const Learner& find_learner(const std::string& name) {
  std::vector<std::string> names;
  for (const Learner& learner : learners()) {
    if (learner.name == name) return learner;
    names.push_back(learner.name);
  }
  throw user_error("unknown algorithm '{}'{}; there are {}", name, suggestion(name, names),
                   fmt::join(names, ", "));
}

void behaviour(std::span<const double> row, const LearningOptions& options, double scale,
               std::span<double> policy) {
  const double most = *std::max_element(row.begin(), row.end());
  double sum = 0;
  if (options.exploration == "boltzmann") {
    for (size_t a = 0; a < row.size(); ++a) {
      sum += policy[a] = row[a] == kImpossible ? 0 : std::exp(scale * (row[a] - most));
    }
    for (double& p : policy) p /= sum;
    return;
  }
  double exist = 0, best = 0;
  for (const double x : row) {
    exist += x != kImpossible;
    best += x == most;
  }
  for (size_t a = 0; a < row.size(); ++a) {
    policy[a] = (row[a] != kImpossible ? options.epsilon / exist : 0) +
                (row[a] == most ? (1 - options.epsilon) / best : 0);
  }
}

LearningRun::LearningRun(const Model& model, const LearningOptions& options)
    : model_(model), options_(options), learner_(find_learner(options.algorithm)) {
  check(options, learner_, model);
  rates_ = {options.beta, options.mu.value_or(-std::log(model.actions()) - 0.1),
            options.discount.value_or(model.discount())};
  scale_ = learner_.log_z ? 1.0 : options.beta;
  const size_t rows = static_cast<size_t>(model.states()) * static_cast<size_t>(model.actions());
  table_.assign(rows * static_cast<size_t>(options.runs), 0.0);
  if (options.alpha_power > 0) visits_.assign(table_.size(), 0.0);
  for (int32_t run = 0; run < options.runs; ++run) {
    for (State s = 0; s < model.states(); ++s) {
      for (Action a = 0; a < model.actions(); ++a) {
        if (!model.has(s, a)) table_[entry(run, s, a)] = kImpossible;
      }
    }
  }
}

size_t LearningRun::entry(int32_t run, State s, Action a) const {
  const size_t actions = static_cast<size_t>(model_.actions());
  return (static_cast<size_t>(run) * static_cast<size_t>(model_.states()) +
          static_cast<size_t>(s)) *
             actions +
         static_cast<size_t>(a);
}

std::span<const double> LearningRun::row(int32_t run, State s) const {
  return std::span(table_).subspan(entry(run, s, 0), static_cast<size_t>(model_.actions()));
}

State LearningRun::draw_start(Rng& rng) const {
  if (model_.start().size() == 1) return model_.start()[0].state;
  double luck = rng.uniform();
  for (const auto& [s, p] : model_.start()) {
    if ((luck -= p) < 0) return s;
  }
  return model_.start().back().state;
}

Model::Transition LearningRun::draw_landing(State s, Action a, Rng& rng) const {
  const int64_t count = model_.transition_count(s, a);
  if (count == 1) return model_.transition(s, a, 0);
  double luck = rng.uniform();
  for (int64_t i = 0; i < count - 1; ++i) {
    const Model::Transition t = model_.transition(s, a, i);
    if ((luck -= t.probability) < 0) return t;
  }
  return model_.transition(s, a, count - 1);
}

double LearningRun::learning_rate(size_t entry) {
  if (visits_.empty()) return options_.alpha;
  return options_.alpha / std::pow(++visits_[entry], options_.alpha_power);
}

LearningRun::Played LearningRun::play(int32_t run, int64_t episode) {
  Rng rng(options_.seed, kEpisodes + static_cast<uint32_t>(run), static_cast<uint32_t>(episode));
  std::vector<double> policy(static_cast<size_t>(model_.actions()));
  const std::vector<double> certain{1.0};
  State s = draw_start(rng);
  if (model_.terminal(s)) return {model_.terminal_reward(s), 0};
  behaviour(row(run, s), options_, scale_, policy);
  size_t a = draw(policy, rng);
  Played played{0, 0};
  while (played.steps < options_.max_steps) {
    const Model::Transition t = draw_landing(s, static_cast<Action>(a), rng);
    played.sum += t.reward;
    ++played.steps;
    const size_t here = entry(run, s, static_cast<Action>(a));
    const double alpha = learning_rate(here);
    if (model_.terminal(t.next)) {
      const double reward = model_.terminal_reward(t.next);
      // Boundary condition: Z(s_f) = e^(beta R(s_f)), V(s_f) = R(s_f).
      const double end = learner_.log_z ? rates_.beta * reward : reward;
      const Experience last{t.reward, {&end, 1}, certain, 0};
      move_towards(table_[here], alpha, learner_.target(last, rates_));
      played.sum += reward;
      break;
    }
    behaviour(row(run, t.next), options_, scale_, policy);
    const size_t next_action = draw(policy, rng);
    const Experience seen{t.reward, row(run, t.next), policy, next_action};
    move_towards(table_[here], alpha, learner_.target(seen, rates_));
    s = t.next;
    a = next_action;
  }
  return played;
}

std::vector<double> LearningRun::advance(int64_t episodes) {
  const size_t runs = static_cast<size_t>(options_.runs);
  std::vector<double> returns(static_cast<size_t>(episodes) * runs);
  std::vector<int64_t> steps(runs);
  default_pool().run(options_.runs, [&](int64_t run) {
    for (int64_t i = 0; i < episodes; ++i) {
      const Played played = play(static_cast<int32_t>(run), episode_ + i);
      returns[static_cast<size_t>(i) * runs + static_cast<size_t>(run)] = played.sum;
      steps[static_cast<size_t>(run)] += played.steps;
    }
  });
  for (const int64_t count : steps) steps_ += count;
  episode_ += episodes;
  for (const double x : returns) CHECK(std::isfinite(x), "a return is {}", x);
  return returns;
}

double LearningRun::greedy_episode(int32_t run, Rng& rng) const {
  LearningOptions greedy = options_;
  greedy.exploration = "epsilon-greedy";
  greedy.epsilon = 0;
  std::vector<double> policy(static_cast<size_t>(model_.actions()));
  State s = draw_start(rng);
  if (model_.terminal(s)) return model_.terminal_reward(s);
  double sum = 0;
  for (int32_t step = 0; step < options_.max_steps; ++step) {
    behaviour(row(run, s), greedy, scale_, policy);
    const Model::Transition t = draw_landing(s, static_cast<Action>(draw(policy, rng)), rng);
    sum += t.reward;
    s = t.next;
    if (model_.terminal(s)) return sum + model_.terminal_reward(s);
  }
  return sum;
}

std::vector<double> LearningRun::greedy_returns(int64_t episodes) const {
  std::vector<double> means(static_cast<size_t>(options_.runs));
  default_pool().run(options_.runs, [&](int64_t run) {
    double sum = 0;
    for (int64_t i = 0; i < episodes; ++i) {
      Rng rng(options_.seed, kGreedy + static_cast<uint32_t>(run), static_cast<uint32_t>(i));
      sum += greedy_episode(static_cast<int32_t>(run), rng);
    }
    means[static_cast<size_t>(run)] = sum / static_cast<double>(episodes);
  });
  return means;
}

void LearningRun::restore(std::vector<double> table, std::vector<double> visits, int64_t episode,
                          int64_t steps) {
  if (table.size() != table_.size() || visits.size() != visits_.size()) {
    throw user_error("the checkpoint holds another model's table");
  }
  table_ = std::move(table);
  visits_ = std::move(visits);
  episode_ = episode;
  steps_ = steps;
}

}  // namespace agora::planning
