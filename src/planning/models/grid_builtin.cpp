#include "planning/models/grid_builtin.h"

namespace agora::planning {

BuiltIn with_map(BuiltIn entry, const MapOf& map) {
  entry.make = [map](const Told& given) {
    GridStrip whole = map.strip(given, 0, 1);
    return grid_model(whole.rows, whole.cols, std::move(whole.cells), map.rules(given));
  };
  entry.make_share = [map](const Told& given, int share, int shares) {
    ModelShare made = grid_share(map.strip(given, share, shares), map.rules(given));
    made.start = {{map.start(given), 1.0}};
    return made;
  };
  return entry;
}

}  // namespace agora::planning
