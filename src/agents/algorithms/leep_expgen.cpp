#include "agents/ppo_parameters.h"

namespace agora::agents::kind_leep_expgen {

// LEEP's linked members, and where they disagree an explorer, as in `expgen`.
Algorithm entry_leep_expgen() {
  return of_ppo("leep-expgen", "LEEP with an explorer that acts where its members disagree",
                both(leep_parameters(), explorer_parameters()), [](const Told& told) {
                  EnsembleOptions how = leep_told(told);
                  how.explorer = explorer_told(told);
                  return how;
                });
}

}  // namespace agora::agents::kind_leep_expgen
