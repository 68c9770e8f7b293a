#pragma once
#include <agora/planning/solve.h>

#include <Eigen/Dense>

namespace agora::agents::epistemic {

// A policy in a small model, as linear algebra. Without a discount it has to end surely; states
// that it never gets to are left out, as if they were ends.
struct Chain {
  Chain(const planning::Model& model, const planning::Policy& policy);

  Eigen::MatrixXd inverse;  // (states, states): of 1 - discount P
  Eigen::VectorXd visits;   // (states): discounted, from the start
  Eigen::VectorXd value;    // (states)
  Eigen::MatrixXd q;        // (states, actions), zero where there is no action
  double start_value = 0;
};

}  // namespace agora::agents::epistemic
