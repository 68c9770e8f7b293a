#pragma once
#include <string>
#include <vector>

#include "reproduce/experiment.h"

namespace agora::reproduce {

// One number of every result.
inline std::vector<double> numbers(const std::vector<Json>& results, const std::string& key) {
  std::vector<double> all;
  for (const Json& result : results) all.push_back(result.at(key).get<double>());
  return all;
}

}  // namespace agora::reproduce
