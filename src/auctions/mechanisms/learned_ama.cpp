// A learned affine maximiser of many allocations. Boosts depend on how many items each bidder gets,
// which for bidders and items that are alike is all that an exchangeable affine maximiser can tell
// apart; with others each sale has a term and each bidder a weight of its own. The welfare of every
// k comes from one table, so that revenue has a slope in all boosts at once.
#include "auctions/network.h"
#include "auctions/setting.h"
#include "auctions/training/boost_slopes.h"
#include "auctions/training/common.h"

namespace agora::auctions::kind_learned_ama {

using namespace compute;

namespace {

constexpr double kSmallTables = 300;  // entries

class BoostTrainer : public CommonTrainer {
 public:
  BoostTrainer(const MechanismKind& kind, const Setting& setting, const Recipe& recipe,
               uint64_t seed)
      : CommonTrainer(kind, setting, recipe, seed), shape_(setting) {
    const LearnedBoosts first = shape_.start(setting);
    Tensors slopes;
    const auto learn = [&](const std::string& name, const std::vector<double>& values) {
      if (values.empty()) return;
      const auto size = static_cast<int64_t>(values.size());
      weights_.push_back(graph_.parameter(name, {size}));
      slopes.push_back(graph_.input("slope." + name, {size}));
    };
    each(first, learn);
    nn::Updates updates = adam(graph_, recipe.weight_decay)("adam", weights_, slopes);
    average_weights(graph_, weights_, recipe.averaging, updates);
    variables_.emplace(graph_);
    variables_->initialize(seed, kWeightStream);
    each(first, [&](const std::string& name, const std::vector<double>& values) {
      if (!values.empty()) variables_->set(name, std::span<const double>(values));
    });
    descend_.emplace(graph_, *variables_, Computation{{}, updates}, CompileOptions{.rows = 1});
  }

  void advance(int64_t iterations) override {
    for (int64_t k = 0; k < iterations; ++k) iterate();
  }

  std::unique_ptr<Mechanism> mechanism() const override {
    Parameters learned;
    write_weights(learned);
    LearnedBoosts last;
    each(last, [&](const std::string& name, std::vector<double>& values) {
      const auto found = learned.tensors.find(name);
      if (found != learned.tensors.end()) values = found->second.values;
    });
    Parameters parameters = shape_.parameters(kind_.name, setting_, last);
    parameters.notes = learned.notes;
    return make_mechanism(kind_, std::move(parameters));
  }

  double iteration_flops() const override { return 0; }

 private:
  template <typename Own, typename Function>
  static void each(Own& learned, Function function) {
    function("boosts", learned.boosts);
    function("terms", learned.terms);
    function("weights", learned.weights);
  }

  void iterate() {
    LearnedBoosts now;
    each(now, [&](const std::string& name, std::vector<double>& values) {
      for (const Tensor& weight : weights_) {
        if (weight.node().name == name) values = variables_->get(name);
      }
    });
    BoostSlopes slopes = boost_slopes(shape_, shape_.hardened(now), draw_values(), temperature());
    for (size_t e = 0; e < now.terms.size(); ++e) {  // at 0 they can only fall
      if (now.terms[e] > 0) slopes.terms[e] = std::min(0.0, slopes.terms[e]);
    }
    if (!slopes.weights.empty()) slopes.weights[0] = 0;  // the others are relative to it
    const auto batch = static_cast<double>(recipe_.batch);
    each(slopes, [&](const std::string& name, std::vector<double>& values) {
      if (values.empty()) return;
      for (double& slope : values) slope /= -batch;  // of the loss
      descend_->set("slope." + name, std::span<const double>(values));
    });
    descend_->set("rate", rate());
    descend_->run();
    const float none = 0;
    note(slopes.revenue / batch * shape_.unit, {&none, 1}, -slopes.revenue / batch);
    ++iteration_;
  }

  BoostShape shape_;
  std::optional<Program> descend_;
};

std::unique_ptr<ResumableTrainer> boost_trainer(const MechanismKind& kind, const Setting& setting,
                                                const Recipe& recipe, uint64_t seed) {
  return std::make_unique<BoostTrainer>(kind, setting, recipe, seed);
}

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

std::vector<RecipeParameter> boost_parameters() {
  std::vector<RecipeParameter> parameters = learning_parameters();
  std::erase_if(parameters, [](const RecipeParameter& each) {
    return each.name == "hidden" || each.name == "width";
  });
  return both(parameters, temperature_parameters());
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
