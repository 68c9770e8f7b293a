#include "planning/z/partition_problem.h"

#include <algorithm>
#include <cmath>

#include "planning/z/partition.h"

namespace agora::planning {

PartitionProblem::PartitionProblem(const Model& model_in, double beta_in, double mu_in)
    : model(model_in), beta(beta_in), mu(mu_in) {
  const double gain = std::max(0.0, model.rewards().max());
  sufficient = -std::log(most_actions(model)) - (std::isinf(beta) ? 0.0 : beta * gain);
  if (std::isinf(beta)) {
    set_limit_weights();
    return;
  }
  for (const Terminal& end : model.terminals()) weights.end.push_back(beta * end.reward);
  const bool same_ends = std::all_of(weights.end.begin(), weights.end.end(),
                                     [&](double w) { return w == weights.end[0]; });
  if (same_ends && !weights.end.empty()) {
    shift = weights.end[0];
    std::fill(weights.end.begin(), weights.end.end(), 0.0);
  }
  if (model.is_deterministic() && model.rewards().constant()) {
    weights.uniform = LogWeight(beta, model.rewards()[0], mu);
  } else if (model.is_deterministic()) {
    weights.transition = [this](State s, Action a, int64_t) {
      return LogWeight(beta, model.rewards()[model.row(s, a)], mu);
    };
  } else {
    weights.transition = [this](State s, Action a, int64_t i) {
      const auto t = model.transition(s, a, i);
      return LogWeight(beta, t.reward, std::log(t.probability) + mu);
    };
  }
}

// Appendix "Boltzmann-like": only the best paths are left, counted with exp(mu) a step.
void PartitionProblem::set_limit_weights() {
  best = limit_paths(model);
  weights.end.assign(model.terminals().size(), 0.0);
  weights.transition = [this](State s, Action a, int64_t) -> LogWeight {
    return best.is_best(model, s, a) ? mu : -INFINITY;
  };
}

std::string PartitionProblem::diverges(const std::string& why) const {
  return partition_diverges(beta, mu, sufficient, why);
}

std::string PartitionProblem::not_found(const std::string& why) const {
  return partition_not_found(beta, mu, sufficient, why);
}

}  // namespace agora::planning
