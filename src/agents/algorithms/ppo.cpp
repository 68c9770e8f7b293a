#include "agents/ppo_parameters.h"

namespace agora::agents::kind_ppo {

Algorithm entry_ppo() {
  return of_ppo("ppo", "proximal policy optimisation, one policy on all training levels",
                ppo_parameters(), ensemble_told);
}

}  // namespace agora::agents::kind_ppo
