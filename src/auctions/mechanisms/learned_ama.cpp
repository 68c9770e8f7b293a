// A learned affine maximiser of many allocations. Boosts depend on how many items each bidder gets,
// which for bidders and items that are alike is all that an exchangeable affine maximiser can tell
// apart; with others each sale has a term and each bidder a weight of its own. The welfare of every
// k comes from one table, so that revenue has a slope in all boosts at once.
#include "auctions/exact/bundle_sizes.h"
#include "auctions/network.h"
#include "auctions/setting.h"
#include "auctions/training/boost_slopes.h"
#include "auctions/training/trainer.h"

namespace agora::auctions::kind_learned_ama {
namespace {

constexpr double kSmallTables = 300;  // entries

Recipe best(const Setting& setting) {
  Recipe recipe{.iterations = 4'000, .batch = 1024};
  if (BundleSizes::table_size(setting.bidders(), setting.items()) <= kSmallTables) {
    recipe.batch = 4096;
  }
  recipe.temperature = 0.1;
  recipe.final_temperature = 1e-3;
  recipe.rate = 1e-2;
  recipe.final_rate = 1e-4;
  recipe.averaging = 0.998;
  if (laws_of(setting).table) {  // rows come again and again: longer it learns them by heart
    recipe.iterations = 500;
    recipe.final_temperature = 1e-2;
    recipe.averaging = 0.98;
  }
  return recipe;
}

}  // namespace

MechanismKind entry_learned_ama() {
  MechanismKind kind{
      .name = "learned-ama",
      .summary = "affine maximiser with learned boosts of how many items each bidder gets",
      .pays = "what its presence costs the others, in weighted values and boosts",
      .trial_setting = "2x3 uniform(0,1)",
      .refusal = size_refusal,
      .design = {},
      .make = [](Parameters p) { return std::make_unique<SizeMaximiser>(std::move(p)); }};
  NetworkKind network{.record = {}};
  network.fresh = [](const MechanismKind& own, const Setting& setting, int, int, uint64_t) {
    const BoostShape shape(setting);
    return shape.parameters(own.name, setting, shape.start(setting));
  };
  network.training = std::make_shared<TrainingKind>(TrainingKind{.trainer = boost_trainer,
                                                                 .published = nullptr,
                                                                 .best = best,
                                                                 .parameters = boost_parameters()});
  kind.network = std::make_shared<NetworkKind>(std::move(network));
  return kind;
}

}  // namespace agora::auctions::kind_learned_ama
