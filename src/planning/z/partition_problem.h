#pragma once
#include <agora/planning/model.h>

#include <string>
#include <vector>

#include "planning/z/limit_paths.h"
#include "planning/z/reach.h"

namespace agora::planning {

// Beta, or its limit at infinity, turned into weights: eq. z-bellman, eq. avgBellman.
struct PartitionProblem {
  PartitionProblem(const Model& model, double beta, double mu);
  PartitionProblem(const PartitionProblem&) = delete;

  const Model& model;
  double beta, mu;
  double sufficient;  // Z exists for every mu below: -log d - beta max(0, R_max)
  LogWeights weights;
  double shift = 0.0;  // log of a common factor of Z, left out of the weights
  LimitPaths best;     // for beta = infinity

  std::string diverges(const std::string& why) const;   // only where it is proven
  std::string not_found(const std::string& why) const;  // Z may exist

 private:
  void set_limit_weights();
};

}  // namespace agora::planning
