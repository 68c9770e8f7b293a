#pragma once
#include <agora/planning/solve.h>

#include <functional>
#include <vector>

namespace agora::planning {

// v(s) = sum_a pi(a|s) (reward(s, a) + discount sum_s' P v(s')), terminal states fixed at `end`.
// Without a discount, states from which the policy may never end get -infinity. `from`: values to
// begin with.
struct PolicyValue {
  std::vector<double> value;  // (states)
  double residual = 0.0;
  double bound = 0.0;         // on the error of value
  double longest = 0.0;       // the largest (discounted) expected number of steps
  std::vector<double> steps;  // (states) without a discount: the expected number, to a thousandth
  int64_t sweeps = 0;
};
PolicyValue evaluate_rewards(const Model& model, const Policy& policy, double discount,
                             double tolerance, const std::function<double(State, Action)>& reward,
                             const std::function<double(State)>& end,
                             const std::vector<double>& from = {});
// The model's own rewards.
PolicyValue evaluate_policy(const Model& model, const Policy& policy, double discount,
                            double tolerance, const std::vector<double>& from = {});
// (states) Whether the policy ends with probability one.
std::vector<char> surely_ends(const Model& model, const Policy& policy);
Policy uniform_policy(const Model& model);

}  // namespace agora::planning
