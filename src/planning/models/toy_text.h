#pragma once
#include <agora/planning/model.h>

#include <string>
#include <vector>

#include "planning/models/builtin.h"

namespace agora::planning {

// FrozenLake as in Gymnasium: S start, F ice, H hole, G goal (reward 1 on entering); moves
// left, down, right, up. Gymnasium's is_slippery with success rate q is slip = 1 - q.
Model frozen_lake(const std::vector<std::string>& lines, double slip);
Parameter frozen_lake_slip();

}  // namespace agora::planning
