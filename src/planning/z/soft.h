#pragma once
#include <agora/planning/solve.h>

#include <vector>

#include "planning/optimum/optimum.h"

namespace agora::planning {

// L(s) = log sum_a exp(beta r(s,a) + mu + discount sum_s' P L(s')), L(f) = beta R(f). With
// discount 1 it is eq. variationalBellman for L = log Z (products to the power P are sums of
// logarithms); with L = beta V and mu = 0 it is soft value iteration.
struct SoftProblem {
  const Model& model;
  double beta, mu, discount;
  std::vector<double> reward;  // (states * actions): mean reward, -infinity without the action
  std::vector<State> order;
  std::vector<double> log_z;  // (states), the start of the iteration
};
SoftProblem soft_problem(const Model& model, const SolveOptions& options, double mu);

// The exponents of the actions of a state; returns L(s). q: (actions).
double soft_backup(const SoftProblem& problem, State s, const std::vector<double>& log_z,
                   std::vector<double>& q);
Policy soft_policy(const SoftProblem& problem, const std::vector<double>& log_z);
double soft_residual(const SoftProblem& problem, const std::vector<double>& log_z);

// Newton's method: evaluates the soft policy of L exactly, entropy included, until the bound on the
// error of L is within the tolerance; the policy is that of the last L. An error if L grows without
// bound.
void soft_newton(const SoftProblem& problem, std::vector<double>& log_z, double tolerance,
                 Solution& solution);

// What an error of L changes in the value of one step of its policy: probabilities move by a
// factor, and that moves value only between actions of different worth.
double policy_error(const SoftProblem& problem, const Policy& policy,
                    const std::vector<double>& value, double log_z_error);

}  // namespace agora::planning
