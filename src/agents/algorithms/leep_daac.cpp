#include "agents/ppo_parameters.h"

namespace agora::agents::kind_leep_daac {

// LEEP whose members learn as `daac` does.
Algorithm entry_leep_daac() {
  return of_ppo("leep-daac",
                "LEEP whose members have value networks of their own and learn advantages",
                both(separate_parameters(), link_parameters()),
                [](const Told& told) { return linked(separate_told(told), told); });
}

}  // namespace agora::agents::kind_leep_daac
