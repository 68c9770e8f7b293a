#pragma once
#include <string>
#include <vector>

namespace agora::reproduce {

struct Experiment {
  std::string name;
  int chapter = 0;
};

const std::vector<Experiment>& experiments();

}  // namespace agora::reproduce
