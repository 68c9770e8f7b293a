// ALGnet's auctioneer (thesis, ch. 5), trained in a game against a misreporter.
#include "auctions/algnet.h"

#include "auctions/setting.h"
#include "auctions/training/recipes.h"
#include "auctions/training/trainer.h"

namespace agora::auctions::kind_algnet {
namespace {

constexpr int kManyItems = 10;

Network record(compute::Graph& graph, const Architecture& architecture) {
  return Auctioneer(graph, architecture);
}

// Thesis, ch. 5, "Implementation and Setup".
Recipe published(const Setting& setting) {
  Recipe recipe{.hidden = 3, .width = 100, .iterations = 160'000, .batch = 500};
  if (has_size(setting, 2, 2)) recipe.hidden = 4, recipe.width = 200;
  if (has_size(setting, 3, 10)) recipe.hidden = 6;
  if (has_size(setting, 5, 10)) recipe.hidden = 7, recipe.width = 200;
  recipe.rate = recipe.final_rate = recipe.misreporter_rate = has_size(setting, 2, 2) ? 5e-4 : 1e-3;
  recipe.weight_decay = 1e-2;
  recipe.misreport_steps = 100;
  recipe.restart_every = 800;
  recipe.restart_until = recipe.iterations / 4;
  return recipe;
}

// The misreporter's guess is refined by a short ascent, so that fewer of its own steps do. Where
// that drives regret far below what it costs in revenue, the loss gets a floor: without one, A ends
// at a regret of 1.5e-5 and a revenue of .543. C, whose values have no end, is better off without.
// Where regret counts in full from the start, each seed of 2x2 ends at another auction, most of
// them poor ones, three bidders and ten items end at the second price, and one bidder with more
// regret.
Recipe best(const Setting& setting) {
  Recipe recipe = published(setting);
  const bool alone = setting.bidders() == 1;
  recipe.hidden = 3;
  recipe.width = 100;
  recipe.iterations = alone ? 12'000 : 18'000;
  if (!alone) recipe.batch = 250;
  if (values_end(setting)) {
    const bool alike = setting.item_symmetric();
    if (alone && alike) recipe.iterations = 6'000;
    const double floor = !alone ? 2.5e-3 : alike ? 4e-4 : 4.5e-5;
    recipe.regret_floor = floor * unit_of_money(setting);
  }
  const bool many = setting.items() >= kManyItems;
  if (many) recipe.iterations = alone ? 18'000 : 70'000;
  if (many || !alone) recipe.regret_weight = 0.1;
  recipe.rate = recipe.misreporter_rate = 1e-3;
  recipe.final_rate = 1e-5;
  recipe.weight_decay = 0;
  recipe.averaging = 0.999;
  recipe.misreport_steps = 5;
  recipe.refinements = 10;
  recipe.candidates = 8;
  recipe.misreport_rate = 0.05;
  recipe.misreport_final_rate = 0.005;
  recipe.restart_every = recipe.restart_until = 0;
  return recipe;
}

}  // namespace

MechanismKind entry_algnet() {
  return network_entry(
      "algnet", "networks trained in a game of an auctioneer against a misreporter",
      {.record = record,
       .layers = "sold.{}.weight",
       .training = std::make_shared<TrainingKind>(TrainingKind{.trainer = game_trainer,
                                                               .published = published,
                                                               .best = best,
                                                               .parameters = game_parameters()})});
}

}  // namespace agora::auctions::kind_algnet
