#pragma once
#include <agora/planning/model.h>
#include <agora/planning/solve.h>

#include <string>

#include "report/chart.h"

namespace agora::report {

// A solution on its map: values as colours, the policy as arrows. Pits have no colour, nor have
// states from which no end is in reach.
GridPicture grid_policy(const planning::Model& model, const planning::Solution& solution,
                        std::string title);

}  // namespace agora::report
