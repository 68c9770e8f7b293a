#include "planning/models/toy_text.h"

namespace agora::planning::kind_frozen_lake_8x8 {

BuiltIn entry_frozen_lake_8x8() {
  return {.name = "frozenlake8x8",
          .summary = "Gymnasium's FrozenLake on the 8x8 map",
          .parameters = {frozen_lake_slip()},
          .make = [](const Told& given) {
            return frozen_lake({"SFFFFFFF", "FFFFFFFF", "FFFHFFFF", "FFFFFHFF", "FFFHFFFF",
                                "FHHFFFHF", "FHFFHFHF", "FFFHFFFG"},
                               given.number("slip"));
          }};
}

}  // namespace agora::planning::kind_frozen_lake_8x8
