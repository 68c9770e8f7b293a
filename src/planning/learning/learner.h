#pragma once
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace agora::planning {

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

// One algorithm is one file of learning/, whose `Learner entry_STEM()` fills this. Its table
// holds Q(s, a) or log Z(s, a); an entry moves towards its target by the learning rate.
struct Learner {
  std::string name;
  std::string summary;  // one line, for listings
  bool log_z;           // the table holds log Z: already times beta
  std::function<double(const Experience&, const LearningRates&)> target;
};

// Every algorithm, in the order of their file names (generated).
const std::vector<Learner>& learners();
const Learner& find_learner(const std::string& name);  // a user error names the nearest

}  // namespace agora::planning
