#include "agents/epistemic/chain.h"

#include <vector>

namespace agora::agents::epistemic {
namespace {

using planning::Action;
using planning::Model;
using planning::State;

std::vector<char> reached(const Model& model, const planning::Policy& policy) {
  std::vector<char> marks(static_cast<size_t>(model.states()));
  std::vector<State> open;
  const auto mark = [&](State s) {
    if (std::exchange(marks[static_cast<size_t>(s)], 1) == 0) open.push_back(s);
  };
  for (const planning::Start& start : model.start()) mark(start.state);
  while (!open.empty()) {
    const State s = open.back();
    open.pop_back();
    for (Action a = 0; a < model.actions(); ++a) {
      if (!model.has(s, a) || policy(s, a) <= 0) continue;
      for (int64_t i = 0; i < model.transition_count(s, a); ++i)
        mark(model.transition(s, a, i).next);
    }
  }
  return marks;
}

}  // namespace

Chain::Chain(const Model& model, const planning::Policy& policy) {
  const auto states = static_cast<Eigen::Index>(model.states());
  const std::vector<char> used = reached(model, policy);
  // The diagonal is what leaves a state, added up: one minus what stays would lose small chances.
  Eigen::MatrixXd system = Eigen::MatrixXd::Zero(states, states);
  Eigen::VectorXd reward = Eigen::VectorXd::Zero(states);
  for (State s = 0; s < model.states(); ++s) {
    if (model.terminal(s)) reward[s] = model.terminal_reward(s);
    if (model.terminal(s) || !used[static_cast<size_t>(s)]) {
      system(s, s) = 1;
      continue;
    }
    system(s, s) = 1 - model.discount();
    for (Action a = 0; a < model.actions(); ++a) {
      if (!model.has(s, a)) continue;
      const double chance = policy(s, a);
      reward[s] += chance * model.expected_reward(s, a);
      for (int64_t i = 0; i < model.transition_count(s, a); ++i) {
        const Model::Transition t = model.transition(s, a, i);
        if (t.next == s) continue;
        system(s, t.next) -= model.discount() * chance * t.probability;
        system(s, s) += model.discount() * chance * t.probability;
      }
    }
  }
  inverse = system.partialPivLu().inverse();
  value = inverse * reward;
  Eigen::VectorXd start = Eigen::VectorXd::Zero(states);
  for (const planning::Start& each : model.start()) start[each.state] += each.probability;
  visits = inverse.transpose() * start;
  start_value = start.dot(value);
  q = Eigen::MatrixXd::Zero(states, model.actions());
  for (State s = 0; s < model.states(); ++s) {
    for (Action a = 0; a < model.actions(); ++a) {
      if (!model.has(s, a)) continue;
      q(s, a) = model.expected_reward(s, a);
      for (int64_t i = 0; i < model.transition_count(s, a); ++i) {
        const Model::Transition t = model.transition(s, a, i);
        q(s, a) += model.discount() * t.probability * value[t.next];
      }
    }
  }
}

}  // namespace agora::agents::epistemic
