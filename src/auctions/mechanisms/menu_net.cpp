// A learned menu of lotteries for one bidder (RochetNet's idea). The buyer takes the choice that is
// best for its bids, or nothing: truthful whatever the menu is. Learning smooths that choice.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "auctions/exact/menu.h"
#include "auctions/network.h"
#include "auctions/setting.h"
#include "auctions/training/common.h"
#include "auctions/training/recipes.h"
#include "compute/gradients.h"

namespace agora::auctions::kind_menu_net {

using namespace compute;

namespace {

// Probabilities so far outside [0, 1] feel a pull, or no slope would bring them back.
constexpr double kMargin = 0.05, kPull = 0.01;
constexpr int64_t kPolishProfiles = 20'000;
constexpr double kLowestPrice = 0.3, kHighestPrice = 1.1;  // of what a choice is worth on average

double typical(const Distribution& law) {
  return std::isfinite(law.mean()) ? law.mean() : law.quantile(0.5);
}

// Lotteries over the items, many of them sure ones, at rising prices; the first is all items.
void start(const Setting& setting, double unit, std::span<double> shares, std::span<double> prices,
           uint64_t seed) {
  const auto& laws = laws_of(setting).rows[0]->marginals();
  const size_t m = laws.size(), count = prices.size();
  Rng rng(seed, kWeightStream);
  for (size_t k = 0; k < count; ++k) {
    double worth = 0.0;
    for (size_t j = 0; j < m; ++j) {
      const double share = k == 0 ? 1.0 : rng.uniform(-0.25, 1.25);
      shares[j * count + k] = share;
      worth += std::clamp(share, 0.0, 1.0) * typical(*laws[j]) / unit;
    }
    prices[k] = worth * rng.uniform(kLowestPrice, kHighestPrice);
  }
}

Parameters hardened(const Setting& setting, double unit, const std::vector<double>& shares,
                    const std::vector<double>& prices) {
  const size_t count = prices.size();
  std::vector<Choice> choices(count);
  for (size_t k = 0; k < count; ++k) {
    for (size_t j = 0; j < shares.size() / count; ++j) {
      choices[k].probabilities.push_back(std::clamp(shares[j * count + k], 0.0, 1.0));
    }
    std::vector<double>& given = choices[k].probabilities;
    const double items = std::accumulate(given.begin(), given.end(), 0.0);
    for (double& share : given) share /= setting.unit_demand() ? std::max(1.0, items) : 1.0;
    choices[k].price = std::min(unit * std::max(0.0, prices[k]), setting.budget(0));
  }
  return menu_parameters("menu-net", setting, std::move(choices));
}

class MenuTrainer : public CommonTrainer {
 public:
  MenuTrainer(const MechanismKind& kind, const Setting& setting, const Recipe& recipe,
              uint64_t seed)
      : CommonTrainer(kind, setting, recipe, seed), unit_(unit_of_money(setting)) {
    const int64_t m = setting.items(), count = recipe.tariffs;
    const Tensor shares = graph_.parameter("shares", {m, count});
    const Tensor raw_prices = graph_.parameter("prices", {count});
    weights_ = graph_.parameters();
    const Tensor values = reshape(graph_.input("values", {kRows, 1, m}), {kRows, m}) / unit_;
    const Tensor temperature = graph_.input("temperature", {});
    Tensor given = clip(shares, 0, 1), prices = relu(raw_prices);
    if (setting.unit_demand()) given = given / maximum(sum(given, {0}, Keep::kYes), 1.0);
    if (!std::isinf(setting.budget(0))) prices = minimum(prices, setting.budget(0) / unit_);
    const Tensor utility = matmul(values, given) - prices;  // (rows, K)
    const Tensor chosen = softmax(utility / temperature, 1) * sigmoid(utility / temperature);
    const Tensor revenue = mean(sum(chosen * prices, {1})).named("revenue");
    const Tensor outside = relu(-shares - kMargin) + relu(shares - (1 + kMargin));
    const Tensor loss = (-revenue + kPull * sum(square(outside))).named("loss");
    nn::Updates updates =
        adam(graph_, recipe.weight_decay)("adam", weights_, gradients(loss, weights_));
    average_weights(graph_, weights_, recipe.averaging, updates);

    variables_.emplace(graph_);
    variables_->initialize(seed, kWeightStream);
    std::vector<double> first(static_cast<size_t>(m * count)), prices_first(recipe.tariffs);
    start(setting, unit_, first, prices_first, seed);
    variables_->set("shares", std::span<const double>(first));
    variables_->set("prices", std::span<const double>(prices_first));
    descend_.emplace(graph_, *variables_,
                     Computation{{{"loss", loss}, {"revenue", revenue}}, updates},
                     CompileOptions{.rows = recipe.batch});
    descend_->bind("values", values_);
  }

  void advance(int64_t iterations) override {
    for (int64_t k = 0; k < iterations; ++k) {
      fetch_values();
      descend_->set("temperature", temperature());
      descend_->set("rate", rate());
      descend_->run();
      const float none = 0;
      note(descend_->scalar("revenue") * unit_, {&none, 1}, descend_->scalar("loss"));
      ++iteration_;
    }
  }

  std::unique_ptr<Mechanism> mechanism() const override {
    Parameters learned;
    write_weights(learned);
    Parameters menu = polished(hardened(setting_, unit_, learned.tensors.at("shares").values,
                                        learned.tensors.at("prices").values));
    menu.notes = learned.notes;
    return make_mechanism(kind_, std::move(menu));
  }

  double iteration_flops() const override { return descend_->matmul_flops(); }

 private:
  // A price that is a little too high loses all who have just that value: the discount that earns
  // most without any smoothing.
  Parameters polished(const Parameters& menu) const {
    const std::vector<double> values = design_values(setting_, seed_, kPolishProfiles);
    const size_t m = static_cast<size_t>(setting_.items());
    Parameters best = menu;
    double most = -1.0;
    for (const double discount : {0.0, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2}) {
      Parameters trial = menu;
      std::vector<double>& rows = trial.tensors.at("choices").values;
      for (size_t k = m; k < rows.size(); k += m + 1) rows[k] *= 1 - discount;
      double earned = 0.0;
      for (const double payment : run(Menu(trial), values).payments) earned += payment;
      if (earned > most) most = earned, best = std::move(trial);
    }
    return best;
  }

  double unit_;
  std::optional<Program> descend_;
};

std::unique_ptr<ResumableTrainer> menu_trainer(const MechanismKind& kind, const Setting& setting,
                                               const Recipe& recipe, uint64_t seed) {
  return std::make_unique<MenuTrainer>(kind, setting, recipe, seed);
}

Recipe best(const Setting&) {
  Recipe recipe{.iterations = 10'000, .batch = 1024};
  recipe.tariffs = 500;
  recipe.temperature = 0.005;  // small and fast: a menu that is smoothed more becomes one price
  recipe.final_temperature = 5e-4;
  recipe.rate = 2e-2;
  recipe.final_rate = 1e-5;
  recipe.averaging = 0.998;
  return recipe;
}

std::vector<RecipeParameter> menu_net_parameters() {
  std::vector<RecipeParameter> parameters = learning_parameters();
  std::erase_if(parameters, [](const RecipeParameter& each) {
    return each.name == "hidden" || each.name == "width";
  });
  parameters.push_back(
      recipe_parameter("choices", &Recipe::tariffs, 1, "choices of the menu", 1 << 16));
  return both(parameters, temperature_parameters());
}

}  // namespace

MechanismKind entry_menu_net() {
  MechanismKind kind{
      .name = "menu-net",
      .summary = "a learned menu of lotteries for one bidder, truthful by construction",
      .pays = "the price of what it chooses from a fixed menu",
      .trial_setting = "1x2 uniform(0,1)",
      .refusal =
          [](const Setting& setting) {
            return setting.bidders() == 1 ? "" : "a menu serves one bidder; tariff takes more";
          },
      .takes_unit_demand = [](const Setting&) { return true; },
      .takes_budgets = [](const Setting&) { return true; },
      .design = {},
      .make = [](Parameters p) { return std::make_unique<Menu>(std::move(p)); }};
  NetworkKind network{.record = {}};
  network.fresh = [](const MechanismKind&, const Setting& setting, int, int width, uint64_t seed) {
    const double unit = unit_of_money(setting);
    std::vector<double> shares(static_cast<size_t>(width) * setting.items()), prices(width);
    start(setting, unit, shares, prices, seed);
    return hardened(setting, unit, shares, prices);
  };
  network.training =
      std::make_shared<TrainingKind>(TrainingKind{.trainer = menu_trainer,
                                                  .published = nullptr,
                                                  .best = best,
                                                  .parameters = menu_net_parameters()});
  kind.network = std::make_shared<NetworkKind>(std::move(network));
  return kind;
}

}  // namespace agora::auctions::kind_menu_net
