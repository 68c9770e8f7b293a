#pragma once
#include <agora/planning/model.h>
#include <agora/planning/solve.h>

#include <string>

#include "report/chart.h"

namespace agora::report {

// A solution on its map: values as colours, the policy as arrows. Terminal states show their
// rewards, states from which no end is in reach nothing.
GridPicture grid_policy(const planning::Model& model, const planning::Solution& solution,
                        std::string title);

}  // namespace agora::report
