#pragma once
#include <agora/planning/solve.h>

#include <functional>
#include <vector>

namespace agora::planning {

// v(s) = sum_a pi(a|s) (reward(s, a) + discount sum_s' P v(s')), terminal states fixed at `end`.
// Without a discount, states from which the policy may never end get -infinity.
struct Evaluation {
  std::vector<double> value;  // (states)
  double residual = 0.0;
  double bound = 0.0;    // on the error of value
  double longest = 0.0;  // the largest (discounted) expected number of steps
  int64_t sweeps = 0;
};
Evaluation evaluate_rewards(const Model& model, const Policy& policy, double discount,
                            double tolerance, const std::function<double(State, Action)>& reward,
                            const std::function<double(State)>& end);
// The model's own rewards.
Evaluation evaluate_policy(const Model& model, const Policy& policy, double discount,
                           double tolerance);
Policy uniform_policy(const Model& model);

}  // namespace agora::planning
