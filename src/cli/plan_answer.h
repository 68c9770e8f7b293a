#pragma once
#include <agora/planning/solve.h>

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "planning/distributed/distributed.h"
#include "report/html.h"

namespace agora::cli {

// What `plan solve` found, whoever solved it: as lines of facts or as JSON.
struct PlanAnswer {
  std::string source, model;  // "maze: 241 states, ..."
  int64_t states = 0;
  std::string method, start;
  double beta = 0, mu = 0, discount = 1;
  double value = 0;
  std::optional<double> log_z, policy_earns;
  std::string action;  // "": none at the start
  std::vector<std::string> actions;
  std::vector<double> policy;  // at the start, below 0 where there is no such action; may be empty
  double residual = 0, bound = 0;
  int64_t sweeps = 0;
  double seconds = 0;
  int ranks = 0;  // of several processes
  std::string solver;

  std::vector<report::Fact> facts() const;
  Json json() const;
};
PlanAnswer plan_answer(const std::string& source, const planning::Model& model,
                       const planning::Solution& solution);
PlanAnswer plan_answer(const std::string& source, const planning::DistributedSolution& shared);

}  // namespace agora::cli
