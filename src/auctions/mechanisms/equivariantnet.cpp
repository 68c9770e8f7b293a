// EquivariantNet (thesis, ch. 4): exchangeable layers, so that nobody's seat matters.
#include "auctions/network.h"
#include "auctions/setting.h"
#include "auctions/training/recipes.h"
#include "auctions/training/trainer.h"
#include "nn/layers.h"

namespace agora::auctions::kind_equivariantnet {
namespace {

using compute::Graph;
using compute::Keep;
using compute::Shape;
using compute::Tensor;

Network record(Graph& graph, const Architecture& architecture) {
  std::vector<int64_t> channels(static_cast<size_t>(architecture.hidden) + 2, architecture.width);
  channels.front() = channels.back() = 1;
  const nn::ExchangeableNet sold_net(graph, "sold", channels), split_net(graph, "split", channels),
      payment_net(graph, "payment", channels);
  return [=](Tensor bids) {
    Shape cells = bids.shape();
    cells.push_back(1);
    const Tensor x = reshape(scaled(architecture, bids), cells);  // (rows, ..., n, m, 1)
    const auto matrix = [&](const nn::ExchangeableNet& net) {
      return reshape(net(x), bids.shape());
    };
    const Tensor sold = sigmoid(mean(matrix(sold_net), {-2}, Keep::kYes));
    return Decision{at_most_one(architecture, sold * softmax(matrix(split_net), -2)),
                    sigmoid(mean(matrix(payment_net), {-1}))};
  };
}

// Thesis, ch. 4, "Setup": 80 epochs of 50,000 profiles.
Recipe published(const Setting&) {
  Recipe recipe{.hidden = 3, .width = 25, .iterations = 8'000, .batch = 500, .samples = 50'000};
  recipe.misreport_rate = recipe.misreport_final_rate = 0.001;
  recipe.multiplier = 5;
  recipe.penalty = recipe.penalty_step = 1;
  recipe.penalty_every = 200;  // two epochs
  return recipe;
}

Recipe best(const Setting& setting) {
  Recipe recipe = published(setting);
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
  recipe.penalty_step = (alone ? 50 : 2) / unit_of_money(setting);
  recipe.penalty_every = alone && !ends ? 1'500 : 500;
  recipe.multiplier_every = 50;
  return recipe;
}

}  // namespace

MechanismKind entry_equivariantnet() {
  return network_entry(
      "equivariantnet", "networks that treat bidders and items alike, for any number of them",
      {.record = record,
       .layers = "sold.{}.own",
       .any_size = true,
       .training =
           std::make_shared<TrainingKind>(TrainingKind{.trainer = lagrangian_trainer,
                                                       .published = published,
                                                       .best = best,
                                                       .parameters = lagrangian_parameters()})});
}

}  // namespace agora::auctions::kind_equivariantnet
