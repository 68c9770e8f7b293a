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
