// The hyperparameters of each training: as published, and as we found them to work best.
#include <algorithm>
#include <cmath>

#include "auctions/mechanism.h"
#include "auctions/setting.h"
#include "auctions/training/trainer.h"
#include "base/error.h"

namespace agora::auctions {
namespace {

bool has_size(const Setting& setting, int bidders, int items) {
  return setting.bidders() == bidders && setting.items() == items;
}

// RegretNet as its authors run it, with their penalty for each setting.
Recipe published_regretnet(const Setting& setting) {
  const bool large = setting.items() >= 10 && setting.bidders() >= 3;
  Recipe recipe{.hidden = large ? 5 : 2,
                .width = 100,
                .iterations = 400'000,
                .batch = 128,
                .samples = 640'000};
  recipe.penalty_step = 5;
  if (has_size(setting, 1, 2) && setting.item_symmetric()) recipe.penalty_step = 50;
  if (has_size(setting, 1, 10)) recipe.penalty_step = 20;
  if (has_size(setting, 3, 10)) recipe.penalty_step = 1;
  if (has_size(setting, 5, 10)) {
    recipe.multiplier = 1;
    recipe.penalty = recipe.penalty_step = 0.25;
    recipe.penalty_every = 100'000;
  }
  return recipe;
}

// Thesis, ch. 4, "Setup": 80 epochs of 50,000 profiles.
Recipe published_equivariantnet(const Setting&) {
  Recipe recipe{.hidden = 3, .width = 25, .iterations = 8'000, .batch = 500, .samples = 50'000};
  recipe.misreport_rate = recipe.misreport_final_rate = 0.001;
  recipe.multiplier = 5;
  recipe.penalty = recipe.penalty_step = 1;
  recipe.penalty_every = 200;  // two epochs
  return recipe;
}

// Thesis, ch. 5, "Implementation and Setup".
Recipe published_algnet(const Setting& setting) {
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

// Ours: the rate falls and weights are averaged, so that the end is not a snapshot of a jumping
// target; lies are searched from several starts and the best is kept; the penalty rises in
// proportion to fewer iterations. `unit` is the size of values: a penalty is per unit of money.
double unit_of(const Setting& setting) {
  double sum = 0;
  for (int j = 0; j < setting.items(); ++j) {
    const Interval domain = setting.domain(0, j);
    const Law& law = laws_of(setting).rows[0]->marginals()[j];
    sum += std::isinf(domain.high) ? law->quantile(0.75) : domain.high;
  }
  return sum / setting.items();
}

Recipe best_regretnet(const Setting& setting) {
  Recipe recipe = published_regretnet(setting);
  const bool alone = setting.bidders() == 1;
  recipe.iterations = alone ? 30'000 : 60'000;
  recipe.final_rate = 1e-5;
  recipe.averaging = 0.999;
  recipe.misreport_final_rate = 0.01;
  recipe.best_misreport = true;
  recipe.candidates = 4;
  recipe.multiplier = 5;
  recipe.penalty = 1;
  recipe.penalty_step = (alone ? 25 : 2) / unit_of(setting);
  recipe.penalty_every = alone ? 1'000 : 2'500;
  recipe.multiplier_every = alone ? 20 : 250;
  if (alone && !values_end(setting)) {
    recipe.penalty_every *= 3;
    recipe.multiplier_every *= 3;
  }
  return recipe;
}

Recipe best_equivariantnet(const Setting& setting) {
  Recipe recipe = published_equivariantnet(setting);
  const bool alone = setting.bidders() == 1, ends = values_end(setting);
  recipe.iterations = alone && ends ? 8'000 : 12'000;
  recipe.batch = 250;
  recipe.rate = 2e-3;
  recipe.final_rate = 1e-5;
  recipe.averaging = 0.999;
  recipe.misreport_rate = 0.1;
  recipe.misreport_final_rate = 0.005;
  recipe.best_misreport = true;
  recipe.candidates = 4;
  recipe.penalty_step = (alone ? 50 : 2) / unit_of(setting);
  recipe.penalty_every = alone && !ends ? 1'500 : 500;
  recipe.multiplier_every = 50;
  return recipe;
}

// The misreporter's guess is refined by a short ascent, so that fewer of its own steps do. Where
// that drives regret far below what it costs in revenue, the loss gets a floor: without one, A ends
// at a regret of 1.5e-5 and a revenue of .543. C, whose values have no end, is better off without.
Recipe best_algnet(const Setting& setting) {
  Recipe recipe = published_algnet(setting);
  const bool alone = setting.bidders() == 1;
  recipe.hidden = 3;
  recipe.width = 100;
  recipe.iterations = 12'000;
  if (!alone) recipe.batch = 250;
  if (values_end(setting)) {
    const bool alike = setting.item_symmetric();
    if (alone && alike) recipe.iterations = 6'000;
    recipe.regret_floor = (!alone ? 2.5e-3 : alike ? 4e-4 : 4.5e-5) * unit_of(setting);
  }
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

const std::vector<std::string>& recipe_kinds() {
  static const std::vector<std::string> kinds{"best", "thesis"};
  return kinds;
}

Recipe recipe(std::string_view mechanism, const Setting& setting, std::string_view kind) {
  const MechanismKind& known = mechanism_kind(mechanism);
  const auto& kinds = recipe_kinds();
  if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) {
    throw user_error("unknown recipe '{}'{}; known: {}", kind, suggestion(kind, kinds),
                     fmt::join(kinds, ", "));
  }
  const bool thesis = kind == "thesis";
  if (mechanism == "regretnet") {
    return thesis ? published_regretnet(setting) : best_regretnet(setting);
  }
  if (mechanism == "equivariantnet") {
    return thesis ? published_equivariantnet(setting) : best_equivariantnet(setting);
  }
  if (mechanism == "algnet") return thesis ? published_algnet(setting) : best_algnet(setting);
  throw user_error("{} is computed, not trained: use auction exact", known.name);
}

}  // namespace agora::auctions
