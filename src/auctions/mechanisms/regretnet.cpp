// RegretNet: one network for the allocation, one for the payments, each seeing all bids at once.
#include "auctions/network.h"
#include "auctions/setting.h"
#include "auctions/training/recipes.h"
#include "auctions/training/trainer.h"
#include "nn/layers.h"

namespace agora::auctions::kind_regretnet {
namespace {

using compute::Graph;
using compute::Shape;
using compute::Tensor;

Network record(Graph& graph, const Architecture& architecture) {
  const int64_t n = architecture.bidders, m = architecture.items;
  const auto net = [&](const char* name, int64_t outputs) {
    std::vector<int64_t> sizes = architecture.widths_of(name);
    sizes.insert(sizes.begin(), n * m);
    sizes.push_back(outputs);
    return nn::Mlp(graph, name, sizes);
  };
  // Unit demand has a second half: shares of each item among bidders, and of each bidder among
  // items, of which the smaller one counts.
  const int64_t scores = (n + 1) * (m + 1);
  const nn::Mlp allocation_net = net("allocation", architecture.unit_demand ? 2 * scores : scores);
  const nn::Mlp payment_net = net("payment", n);
  return [=](Tensor bids) {
    Shape flat = bids.shape(), logits = bids.shape();
    flat.pop_back();
    flat.back() = n * m;
    logits[logits.size() - 2] = n + 1;  // one more for nobody
    logits.back() = m + 1;              // unused
    const Tensor x = reshape(scaled(architecture, bids), flat);
    const auto cut = [&](Tensor shares) { return slice(slice(shares, -2, 0, n), -1, 0, m); };
    const Tensor out = allocation_net(x), fraction = sigmoid(payment_net(x));
    if (!architecture.unit_demand) {
      return Decision{cut(softmax(reshape(out, logits), -2)), fraction};
    }
    const Tensor of_items = softmax(reshape(slice(out, -1, 0, scores), logits), -2);
    const Tensor of_bidders = softmax(reshape(slice(out, -1, scores, 2 * scores), logits), -1);
    return Decision{minimum(cut(of_items), cut(of_bidders)), fraction};
  };
}

bool is_large(const Setting& setting) { return setting.items() >= 10 && setting.bidders() >= 3; }

// RegretNet as its authors run it, with their penalty for each setting.
Recipe published(const Setting& setting) {
  Recipe recipe{.hidden = is_large(setting) ? 5 : 2,
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

// Where regret is dear from the start, many bidders and items end near the second price.
Recipe best(const Setting& setting) {
  Recipe recipe = published(setting);
  const bool alone = setting.bidders() == 1;
  recipe.iterations = alone ? 30'000 : is_large(setting) ? 200'000 : 60'000;
  recipe.final_rate = 1e-5;
  recipe.averaging = 0.999;
  recipe.misreport_final_rate = 0.01;
  recipe.best_misreport = true;
  recipe.candidates = 4;
  recipe.multiplier = 5;
  recipe.penalty = 1;
  recipe.penalty_step = (alone ? 25 : 2) / unit_of_money(setting);
  recipe.penalty_every = alone ? 1'000 : 2'500;
  recipe.multiplier_every = alone ? 20 : 250;
  if (is_large(setting) && setting.bidders() > 3) {
    recipe.iterations = 150'000;
    recipe.multiplier = 1;
    recipe.penalty = 0.25;
    recipe.penalty_step = 0.4 / unit_of_money(setting);
    recipe.multiplier_every = 500;
  }
  if (alone && !values_end(setting)) {
    recipe.penalty_every *= 3;
    recipe.multiplier_every *= 3;
  }
  return recipe;
}

}  // namespace

MechanismKind entry_regretnet() {
  return network_entry("regretnet", "fully connected networks, trained by an augmented Lagrangian",
                       {.record = record,
                        .layers = "allocation.{}.weight",
                        .free = {"allocation", "payment"},
                        .training = std::make_shared<TrainingKind>(
                            TrainingKind{.trainer = lagrangian_trainer,
                                         .published = published,
                                         .best = best,
                                         .parameters = lagrangian_parameters()})});
}

}  // namespace agora::auctions::kind_regretnet
