#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/parameter.h"

namespace agora::planning {

struct LearningOptions {
  std::string algorithm = "z-learning";
  std::string exploration = "epsilon-greedy";  // or "boltzmann": in proportion to Z or e^(beta Q)
  double epsilon = 0.1;
  double alpha = 0.1;        // learning rate ...
  double alpha_power = 0.0;  // ... divided by (visits of the state and action)^power
  double beta = 1.0;
  std::optional<double> mu;        // default -log d - .1
  std::optional<double> discount;  // default: the model's own
  int32_t max_steps = 1000;        // an episode is cut off after so many
  int32_t runs = 10;               // independent ones, side by side
  uint64_t seed = 0;
};

struct LearningRates {
  double beta = 1.0;
  double mu = 0.0;
  double discount = 1.0;
};

// What was seen after an action, and what is believed of the state it led to.
struct Experience {
  double reward;
  std::span<const double> next;    // (actions): the table's row there
  std::span<const double> policy;  // (actions): how the next action is chosen there
  size_t next_action;              // the one chosen
};

using LearningParameter = OptionParameter<LearningOptions>;
// What all of them can be told.
std::vector<LearningParameter> learning_parameters();

// One algorithm is one file of learning/, whose `Learner entry_STEM()` fills this. Its table
// holds Q(s, a) or log Z(s, a); an entry moves towards its target by the learning rate.
struct Learner {
  std::string name;
  std::string summary;  // one line, for listings
  bool log_z;           // the table holds log Z: already times beta
  std::function<double(const Experience&, const LearningRates&)> target;
  std::vector<LearningParameter> parameters = learning_parameters();
};

// Every algorithm, in the order of their file names (generated).
const std::vector<Learner>& learners();
const Learner& find_learner(const std::string& name);  // a user error names the nearest

}  // namespace agora::planning
