#include "reproduce/auction_stages.h"

#include "auctions/training/mechanism_learner.h"

namespace agora::reproduce {

using namespace auctions;

Trained train(Stages& stages, const Training& training, const Watch& watch) {
  MechanismLearner learner(training.mechanism, training.setting, training.recipe, training.seed);
  Trainer& trainer = learner.trainer();
  Looks looks{.points = watch.points};
  if (watch.look) {
    looks.look = [&](int64_t iteration) {
      return watch.look(iteration, *trainer.mechanism(), trainer.numbers());
    };
  }
  if (watch.before) {
    looks.before_share = [&](int64_t iteration) { watch.before(iteration, trainer); };
  }
  Json seen = stages.learn(learner, looks);
  return {trainer.mechanism(), std::move(seen)};
}

Recipe recipe_for(const Task& task, std::string_view mechanism, const Setting& setting,
                  int64_t quick_iterations) {
  const Recipe shipped = recipe(mechanism, setting);
  return task.quick() ? with_iterations(shipped, quick_iterations) : shipped;
}

Json measured(const Mechanism& mechanism, const Setting& setting, const AuditOptions& options) {
  const Audit found = audit(mechanism, setting, options);
  Json result{{"revenue", found.truth.revenue}, {"se", found.truth.revenue_error}};
  if (found.thesis) result["regret"] = found.thesis->mean;
  if (found.strong) {
    result["strong"] = found.strong->mean;
    result["p_star"] = p_star(found.truth.revenue, setting.bidders() * found.strong->mean);
  }
  return result;
}

AuditOptions audit_for(const Task& task) {
  AuditOptions options{.symmetry_profiles = 0, .seed = task.seed};
  if (!task.quick()) {
    options.profiles = 1'000'000;  // rules are thinner than the error of 10,000
    return options;
  }
  options.regret_profiles = 100;
  options.starts = 20;
  return options;
}

}  // namespace agora::reproduce
