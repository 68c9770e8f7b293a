#include "agents/ppo_parameters.h"

namespace agora::agents::kind_leep_drac {

// LEEP whose members learn as `drac` does.
Algorithm entry_leep_drac() {
  return of_ppo("leep-drac", "LEEP whose members see no difference where a picture is moved",
                both(leep_parameters(), invariance_parameters()), [](const Told& told) {
                  EnsembleOptions how = leep_told(told);
                  how.ppo.invariance = invariance_told(told);
                  return how;
                });
}

}  // namespace agora::agents::kind_leep_drac
