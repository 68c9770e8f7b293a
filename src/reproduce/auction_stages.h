#pragma once
#include <agora/auction_audit.h>
#include <agora/auction_training.h>

#include <functional>
#include <memory>
#include <string>

#include "auctions/training/recipes.h"
#include "reproduce/stages.h"

// Stages that train the networks of auctions, and what is measured of them.
namespace agora::reproduce {

// One network to be trained.
struct Training {
  std::string mechanism;
  auctions::Setting setting;
  auctions::Recipe recipe;
  uint64_t seed = 0;
};

// What is looked at while a network learns, `points` times.
struct Watch {
  int points = 0;
  // The mechanism as learned so far and what the training saw since the last look.
  std::function<Json(int64_t iteration, const auctions::Mechanism&, auctions::TrainingNumbers)>
      look;
  // Before every look's share of the iterations: a drifting law moves on.
  std::function<void(int64_t iteration, auctions::Trainer&)> before;
};

struct Trained {
  std::unique_ptr<auctions::Mechanism> mechanism;
  Json seen;  // one entry per look
};
// At most one training per stage.
Trained train(Stages& stages, const Training& training, const Watch& watch = {});

using auctions::with_iterations;
// The shipped recipe; with so many iterations at quick scale.
auctions::Recipe recipe_for(const Task& task, std::string_view mechanism,
                            const auctions::Setting& setting, int64_t quick_iterations);

// The numbers of the thesis's tables: {"revenue","se","regret","strong","p_star"}; regrets are
// means per bidder by the thesis's and by the strong test (which decides P*).
Json measured(const auctions::Mechanism& mechanism, const auctions::Setting& setting,
              const auctions::AuditOptions& options);
// How much of an audit a scale affords.
auctions::AuditOptions audit_for(const Task& task);

}  // namespace agora::reproduce
