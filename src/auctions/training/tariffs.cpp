// Tariffs learn by revenue alone: truth is built in, so that there is nobody to misreport. Who
// takes what is smoothed by a temperature that falls.
#include "auctions/tariff.h"
#include "auctions/training/common.h"
#include "base/thread_pool.h"
#include "compute/gradients.h"

namespace agora::auctions {

using namespace compute;

namespace {

constexpr int64_t kProfilesPerPart = 64;
constexpr double kWarmUp = 500;  // iterations in which the rate rises
// Offers so far below 0 feel a pull: otherwise they could be lost for good, where no slope is.
// Markups of levels are meant to be there.
constexpr double kMargin = 0.05, kPull = 0.01;

constexpr double kNever = -1e4;  // in temperatures
constexpr double kNoEnd = 1e6;   // a budget, in units of money

Tensor positive(Tensor offers, Tensor temperature) {
  return temperature * softplus(offers / temperature);
}

Tensor pull(Tensor offers) { return mean(square(relu(-offers - kMargin))); }

class TariffTrainer : public CommonTrainer {
 public:
  TariffTrainer(const MechanismKind& kind, const Setting& setting, const Recipe& recipe,
                uint64_t seed)
      : CommonTrainer(kind, setting, recipe, seed),
        start_(fresh_tariffs(kind, setting,
                             tariff_size_for(setting, recipe.hidden, recipe.width, recipe.tariffs),
                             seed)),
        views_(start_),
        one_each_(setting.limits() != Limits{}) {
    const int64_t n = setting.bidders(), m = setting.items(), features = views_.features();
    const TariffNet net(graph_, n, m, features, tariff_size(start_));
    weights_ = graph_.parameters();
    const auto [offers, revenue] = one_each_ ? revenue_of_one(net) : revenue_of_all(net);
    Tensor pulls = pull(offers.fees);
    if (!tariff_size(start_).levels) pulls = pulls + pull(offers.markups);
    const Tensor loss = (-revenue + kPull * pulls).named("loss");
    nn::Updates updates =
        adam(graph_, recipe.weight_decay)("adam", weights_, gradients(loss, weights_));
    average_weights(graph_, weights_, recipe.averaging, updates);

    variables_.emplace(graph_);
    variables_->initialize(seed, kWeightStream);
    for (const Tensor& weight : weights_) {
      const std::string& name = weight.node().name;
      variables_->set(name, std::span<const double>(start_.tensors.at(name).values));
    }
    const int64_t rows = recipe.batch * n;
    descend_.emplace(graph_, *variables_,
                     Computation{{{"loss", loss}, {"revenue", revenue}}, updates},
                     CompileOptions{.rows = one_each_ ? rows : recipe.batch});
    const auto cells = static_cast<size_t>(rows * m);
    others_.resize(cells * static_cast<size_t>(features));
    for (std::vector<float>* each : {&reserve_, &thresholds_, &gaps_}) each->resize(cells);
    if (!one_each_) return;
    std::vector<int32_t> bidder;
    for (int64_t row = 0; row < rows; ++row) bidder.push_back(static_cast<int32_t>(row % n));
    descend_->set("bidder", std::span<const int32_t>(bidder));
    if (!setting.limits().budgets.empty()) {
      std::vector<float> budgets;
      for (const int32_t i : bidder) {
        budgets.push_back(static_cast<float>(std::min(setting.budget(i) / views_.unit(), kNoEnd)));
      }
      descend_->set("budgets", std::span<const float>(budgets));
    }
  }

  void advance(int64_t iterations) override {
    for (int64_t k = 0; k < iterations; ++k) iterate();
  }

  std::unique_ptr<Mechanism> mechanism() const override {
    Parameters parameters = start_;
    write_weights(parameters);
    return make_mechanism(kind_, std::move(parameters));
  }

  double iteration_flops() const override { return descend_->matmul_flops(); }

 private:
  struct Learned {
    TariffNet::Offers offers;
    Tensor revenue;  // what bidders pay, per profile and in units of money
  };

  // A row is a profile. A step is smoothed relative to what it would be without markup or fee, so
  // that those of 0 sell exactly as they do at temperature 0.
  Learned revenue_of_all(const TariffNet& net) {
    const int64_t n = setting_.bidders(), m = setting_.items(), tariffs = recipe_.tariffs;
    const Tensor temperature = graph_.input("temperature", {});
    const Tensor gaps = graph_.input("gaps", {kRows, n, m});  // bid - threshold
    const Tensor won = greater(gaps, graph_.constant(0.0));
    const TariffNet::Offers offers =
        net.to_highest(graph_.input("others", {kRows, n, m, views_.features()}),
                       graph_.input("reserve", {kRows, n, m}), won);
    const auto of_item = [&](Tensor x) {
      return reshape(TariffNet::of_highest(x, won), {kRows, m, 1});
    };
    const auto of_bidders = [&](Tensor x) {  // (rows, m, K) summed over what each won
      return sum(reshape(x, {kRows, 1, m, tariffs}) * reshape(won, {kRows, n, m, 1}), {2});
    };
    const Tensor threshold = of_item(graph_.input("thresholds", {kRows, n, m}));
    const Tensor gap = of_item(gaps);
    const Tensor fees = positive(offers.fees, temperature);        // (rows, n, K)
    const Tensor markups = positive(offers.markups, temperature);  // (rows, m, K)
    const Tensor left = gap - markups;
    const Tensor taken = sigmoid(left / temperature) / sigmoid(gap / temperature);
    const Tensor gain = of_bidders(relu(left)), utility = gain - fees;
    const Tensor bought = sigmoid(utility / temperature) / sigmoid(gain / temperature);
    const Tensor chosen = softmax(utility / temperature, 2) * bought * max(won, {2}, Keep::kYes);
    const Tensor paid = fees + of_bidders(taken * (threshold + markups));
    return {offers, mean(sum(chosen * paid, {1, 2})).named("revenue")};
  }

  // Where a bidder, which is a row, takes one item: of all pairs of an item and a tariff, each with
  // one price.
  Learned revenue_of_one(const TariffNet& net) {
    const int64_t n = setting_.bidders(), m = setting_.items(), tariffs = recipe_.tariffs;
    const Tensor temperature = graph_.input("temperature", {});
    const Tensor threshold = graph_.input("thresholds", {kRows, m, 1});
    const Tensor gap = graph_.input("gaps", {kRows, m, 1});
    const TariffNet::Offers offers = net(TariffNet::declare(graph_, m, views_.features()));
    const Tensor fees = reshape(positive(offers.fees, temperature), {kRows, 1, tariffs});
    const Tensor bid = threshold + gap;
    Tensor price = threshold + positive(offers.markups, temperature) + fees;  // (rows, m, K)
    Tensor offered = greater(gap, graph_.constant(0.0));
    if (!setting_.limits().budgets.empty()) {
      const Tensor budget = graph_.input("budgets", {kRows, 1, 1});
      price = minimum(price, budget);
      offered = offered * greater_equal(budget, threshold);
    }
    const Tensor utility = bid - price;
    const Tensor wanted = where(offered, utility / temperature, graph_.constant(kNever));
    const Tensor among =
        reshape(softmax(reshape(wanted, {kRows, m * tariffs}), 1), {kRows, m, tariffs});
    const Tensor bought = sigmoid(wanted) / sigmoid(relu(gap) / temperature);
    const Tensor paid = mean(sum(among * bought * price, {1, 2}));
    return {offers, (static_cast<double>(n) * paid).named("revenue")};
  }

  void iterate() {
    fetch_views();
    descend_->set("others", std::span<const float>(others_));
    descend_->set("reserve", std::span<const float>(reserve_));
    descend_->set("thresholds", std::span<const float>(thresholds_));
    descend_->set("gaps", std::span<const float>(gaps_));
    descend_->set("temperature", temperature());
    descend_->set("rate", rate() * std::min(1.0, (static_cast<double>(iteration_) + 10) / kWarmUp));
    descend_->run();
    const float none = 0;
    note(descend_->scalar("revenue") * views_.unit(), {&none, 1}, descend_->scalar("loss"));
    ++iteration_;
  }

  void fetch_views() {
    const std::span<const float> values = draw_values();
    const int64_t batch = recipe_.batch, size = profile_size();
    default_pool().run((batch + kProfilesPerPart - 1) / kProfilesPerPart, [&](int64_t part) {
      std::vector<double> bids(static_cast<size_t>(size)), thresholds(bids.size());
      std::vector<uint8_t> wins(bids.size());
      const int64_t end = std::min(batch, (part + 1) * kProfilesPerPart);
      for (int64_t k = part * kProfilesPerPart; k < end; ++k) {
        const int64_t at = k * size;
        std::copy_n(values.begin() + at, size, bids.begin());
        views_.look(bids.data(), thresholds.data(), wins.data(),
                    others_.data() + at * views_.features(), reserve_.data() + at);
        for (int64_t e = 0; e < size; ++e) {
          thresholds_[at + e] = static_cast<float>(thresholds[e] / views_.unit());
          gaps_[at + e] = static_cast<float>((bids[e] - thresholds[e]) / views_.unit());
        }
      }
    });
  }

  Parameters start_;
  TariffViews views_;
  bool one_each_;
  std::optional<Program> descend_;
  std::vector<float> others_, reserve_, thresholds_, gaps_;  // (batch n, m), others more
};

}  // namespace

std::vector<RecipeParameter> tariff_parameters() {
  return both(learning_parameters(),
              both({recipe_parameter("tariffs", &Recipe::tariffs, 1,
                                     "tariffs offered to each bidder", 4096)},
                   temperature_parameters()));
}

std::unique_ptr<ResumableTrainer> tariff_trainer(const MechanismKind& kind, const Setting& setting,
                                                 const Recipe& recipe, uint64_t seed) {
  return std::make_unique<TariffTrainer>(kind, setting, recipe, seed);
}

}  // namespace agora::auctions
