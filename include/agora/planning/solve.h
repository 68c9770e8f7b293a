#pragma once
#include <agora/planning/model.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace agora::planning {

// Probabilities for every (state, action), or one action per state where that is enough.
struct Policy {
  Action actions = 0;
  std::vector<double> probabilities;  // (states, actions), rows of terminal states are zero
  std::vector<Action> greedy;         // (states), kNone in terminal states; used if not empty

  bool empty() const { return probabilities.empty() && greedy.empty(); }
  double operator()(State s, Action a) const {
    if (!greedy.empty()) return greedy[static_cast<size_t>(s)] == a ? 1.0 : 0.0;
    return probabilities[static_cast<size_t>(s) * static_cast<size_t>(actions) +
                         static_cast<size_t>(a)];
  }
  Action best(State s) const;  // the most probable one, the first of equals; kNone if terminal
};

struct SolveOptions {
  double beta = 1.0;                    // inverse temperature; infinity gives the exact limit
  std::optional<double> mu = {};        // chemical potential; default -log d - .1
  std::optional<double> discount = {};  // default: the model's own
  double tolerance = 1e-6;              // the largest error allowed in what is printed
  int64_t max_sweeps = 10'000'000;      // then give up with an error that names the residual
  Policy policy = {};                   // for `evaluate`; empty: uniform over the actions
  std::vector<double> warm_start = {};  // value or log Z of a nearby problem; empty: none
  std::function<void(int64_t sweep, double change)> progress = {};  // called now and then if set
};

struct Solution {
  std::string method;
  double beta = 0.0;
  double mu = 0.0;
  double discount = 1.0;
  std::vector<double> value;  // (states); of a partition function: the derivative of log Z by beta
  std::vector<double> log_z;  // (states); empty for other methods; -infinity: no end in reach
  Policy policy;
  // Averaged Bellman equation: the "unrealistic" policy, a joint probability of action and
  // landing state, one number per transition of the model. Nobody can execute it.
  std::vector<double> joint_policy;
  // Where it differs from `value`: what `policy` really earns, evaluated exactly.
  std::vector<double> policy_value;
  double residual = 0.0;  // of the Bellman equation: relative for Z, absolute for values
  // On the error of value and log_z; infinity: unknown.
  double bound = std::numeric_limits<double>::infinity();
  int64_t sweeps = 0;
  double seconds = 0.0;
  std::vector<std::string> warnings;
};

// Means over the start distribution rho; the mean of log Z is log of prod_s Z(s)^rho(s), the
// thesis's Z of a distribution, so that the value stays its derivative by beta.
double start_value(const Model& model, const Solution& solution);
double start_log_z(const Model& model, const Solution& solution);

// method: one of method_names(); empty: default_method().
Solution solve(const Model& model, const std::string& method, const SolveOptions& options = {});
// z, or z-variational for stochastic models; mpi, the optimum, where Z does not answer the
// question: with a discount below one and no mu in its place, or if nothing ends.
std::string default_method(const Model& model, const SolveOptions& options = {});
std::vector<std::string> method_names();

// auto answer = PartitionFunction{.beta = 2.0, .mu = -1.5}(model);
struct PartitionFunction {
  double beta = 1.0;
  std::optional<double> mu = {};
  double tolerance = 1e-6;
  std::string method = "z";
  Solution operator()(const Model& model) const;
  // One solution per inverse temperature, each started from the one before.
  std::vector<Solution> sweep(const Model& model, const std::vector<double>& betas) const;
};

// auto answer = ValueIteration{.discount = .99}(model);
struct ValueIteration {
  std::optional<double> discount = {};
  double tolerance = 1e-6;
  std::string method = "vi";
  Solution operator()(const Model& model) const;
};

// The exact value of following `policy`; without a discount -infinity where it may never end.
std::vector<double> evaluate(const Model& model, const Policy& policy,
                             std::optional<double> discount = {}, double tolerance = 1e-9);

}  // namespace agora::planning
