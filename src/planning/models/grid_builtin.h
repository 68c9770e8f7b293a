#pragma once
#include "planning/distributed/grid_share.h"
#include "planning/model/grid_model.h"
#include "planning/models/builtin.h"

namespace agora::planning {

// A built-in model that is a map.
struct MapOf {
  std::function<GridStrip(const Told&, int share, int shares)> strip;
  std::function<GridRules(const Told&)> rules;
  std::function<State(const Told&)> start;
};
// The entry with its model, whole or in shares.
BuiltIn with_map(BuiltIn entry, const MapOf& map);

}  // namespace agora::planning
