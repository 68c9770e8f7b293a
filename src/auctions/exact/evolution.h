#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "base/parameter.h"

namespace agora::auctions {

struct Evolution {
  double step = 0.3;  // initial standard deviation of the search
  int evaluations = 800;
  uint64_t seed = 0;
};

// Of the mechanisms whose parameters are fitted.
Parameter design_profiles();

// Maximises without derivatives by covariance matrix adaptation (Hansen's CMA-ES with its default
// constants). Deterministic. Returns the mean of the final search distribution or the best point
// seen, whichever is better.
std::vector<double> maximise(const std::function<double(const std::vector<double>&)>& objective,
                             std::vector<double> start, const Evolution& options);

}  // namespace agora::auctions
