#include "auctions/training/mechanism_learner.h"

#include <agora/auction_audit.h>

namespace agora::auctions {

MechanismLearner::MechanismLearner(const MechanismKind& kind, const Setting& setting,
                                   const Recipe& recipe, uint64_t seed)
    : trainer_(resumable_trainer(kind, setting, recipe, seed)),
      iterations_(recipe.iterations),
      bidders_(setting.bidders()) {}

NamedNumbers MechanismLearner::numbers() {
  const TrainingNumbers seen = trainer_->numbers();
  return {{"revenue", seen.revenue},
          {"regret", seen.regret},
          {"p_star", p_star(seen.revenue, seen.regret * bidders_)},
          {"loss", seen.loss}};
}

}  // namespace agora::auctions
