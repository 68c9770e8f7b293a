#include "planning/models/toy_text.h"

namespace agora::planning::kind_frozen_lake_4x4 {

BuiltIn entry_frozen_lake_4x4() {
  return {.name = "frozenlake4x4",
          .summary = "Gymnasium's FrozenLake on the 4x4 map",
          .parameters = {frozen_lake_slip()},
          .make = [](const Told& given) {
            return frozen_lake({"SFFF", "FHFH", "FFFH", "HFFG"}, given.number("slip"));
          }};
}

}  // namespace agora::planning::kind_frozen_lake_4x4
