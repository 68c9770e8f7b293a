#include "auctions/training/recipes.h"

#include <algorithm>
#include <cmath>

#include "auctions/setting.h"
#include "auctions/training/trainer.h"
#include "base/error.h"

namespace agora::auctions {

bool has_size(const Setting& setting, int bidders, int items) {
  return setting.bidders() == bidders && setting.items() == items;
}

double unit_of_money(const Setting& setting) {
  double sum = 0;
  for (int j = 0; j < setting.items(); ++j) {
    const Interval domain = setting.domain(0, j);
    const Law& law = laws_of(setting).rows[0]->marginals()[j];
    sum += std::isinf(domain.high) ? law->quantile(0.75) : domain.high;
  }
  return sum / setting.items();
}

Recipe without_detours(Recipe recipe) {
  constexpr int64_t kEnough = 9'000;
  if (recipe.iterations < kEnough) recipe.regret_weight = 1;
  return recipe;
}

Recipe with_iterations(Recipe recipe, int64_t iterations) {
  const double share = static_cast<double>(iterations) / static_cast<double>(recipe.iterations);
  const auto scaled = [&](int64_t count) {
    return std::max<int64_t>(1, std::llround(share * static_cast<double>(count)));
  };
  recipe.iterations = iterations;
  recipe.penalty_every = scaled(recipe.penalty_every);
  recipe.multiplier_every = std::max<int64_t>(10, scaled(recipe.multiplier_every));
  if (recipe.restart_every > 0) recipe.restart_every = scaled(recipe.restart_every);
  recipe.restart_until = scaled(recipe.restart_until);
  if (recipe.averaging > 0) recipe.averaging = std::max(0.0, 1 - (1 - recipe.averaging) / share);
  return without_detours(recipe);
}

const std::vector<std::string>& recipe_kinds() {
  static const std::vector<std::string> kinds{"best", "thesis"};
  return kinds;
}

Recipe recipe(std::string_view mechanism, const Setting& setting, std::string_view kind) {
  const TrainingKind& training = training_of(mechanism_kind(mechanism));
  const auto& kinds = recipe_kinds();
  if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) {
    throw user_error("unknown recipe '{}'{}; known: {}", kind, suggestion(kind, kinds),
                     fmt::join(kinds, ", "));
  }
  if (kind == "thesis" && training.published == nullptr) {
    throw user_error("{} is not of the thesis: its recipe is 'best'", mechanism);
  }
  return kind == "thesis" ? training.published(setting) : training.best(setting);
}

}  // namespace agora::auctions
