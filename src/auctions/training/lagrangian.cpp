// The augmented Lagrangian (thesis, ch. 4, "Optimization and training procedures"; ch. 5,
// appendices on RegretNet, offline and online): misreports climb, the mechanism descends -revenue +
// sum_i multiplier_i regret_i + penalty / 2 sum_i regret_i^2.
#include "auctions/training/common.h"
#include "base/error.h"
#include "compute/gradients.h"

namespace agora::auctions {

using namespace compute;

namespace {

class LagrangianTrainer : public CommonTrainer {
 public:
  LagrangianTrainer(const MechanismKind& kind, const Setting& setting, const Recipe& recipe,
                    uint64_t seed)
      : CommonTrainer(kind, setting, recipe, seed),
        multipliers_(static_cast<size_t>(setting.bidders()), recipe.multiplier),
        penalty_{recipe.penalty},
        reports_(values_.count()),
        lies_(values_.count()) {
    const int64_t n = setting.bidders(), m = setting.items();
    const Network network = kind.network->record(graph_, architecture_);
    weights_ = graph_.parameters();

    const MechanismStep step = mechanism_step(graph_, network, architecture_);
    const Tensor multipliers = graph_.input("multipliers", {n});
    const Tensor penalty = graph_.input("penalty", {});
    const Tensor loss =
        (-step.revenue + sum(multipliers * step.regret) + 0.5 * penalty * sum(square(step.regret)))
            .named("loss");
    nn::Updates updates =
        adam(graph_, recipe.weight_decay)("adam", weights_, gradients(loss, weights_));
    average_weights(graph_, weights_, recipe.averaging, updates);

    const Tensor lies = record_search(network, ascent_plan());
    variables_.emplace(graph_);
    variables_->initialize(seed, kWeightStream);
    climb_.emplace(graph_, *variables_, Computation{{{"lies", lies}}, {}},
                   CompileOptions{.rows = recipe.batch * n, .short_products = true});
    descend_.emplace(
        graph_, *variables_,
        Computation{{{"loss", loss}, {"revenue", step.revenue}, {"regret", step.regret}}, updates},
        CompileOptions{.rows = recipe.batch});
    prepare_search(*climb_);
    climb_->bind("reports", reports_);
    climb_->bind("lies", lies_);
    descend_->bind("values", values_);
    descend_->bind("misreports", lies_);
    regret_.resize(static_cast<size_t>(n));
    host_.resize(static_cast<size_t>(values_.count()));
    if (recipe.samples > 0) {
      remembered_.resize(static_cast<size_t>(recipe.samples * n * m));
      setting.sample(seed, kMisreportStream, 0, recipe.samples, remembered_.data());
    }
  }

  void advance(int64_t iterations) override {
    for (int64_t k = 0; k < iterations; ++k) iterate();
  }

  double iteration_flops() const override {
    return climb_->matmul_flops() + descend_->matmul_flops();
  }

 private:
  void iterate() {
    fetch_values();
    fetch_reports();
    draw_starts(*climb_);
    climb_->run();
    descend_->set("multipliers", std::span<const double>(multipliers_));
    descend_->set("penalty", penalty_[0]);
    descend_->set("rate", rate());
    descend_->run();
    remember_reports();  // now that nothing can stop this iteration any more
    descend_->read("regret", std::span<float>(regret_));
    note(descend_->scalar("revenue"), regret_, descend_->scalar("loss"));

    if (iteration_ % recipe_.multiplier_every == 0) {
      for (size_t i = 0; i < regret_.size(); ++i) multipliers_[i] += penalty_[0] * regret_[i];
    }
    ++iteration_;
    if (iteration_ % recipe_.penalty_every == 0) penalty_[0] += recipe_.penalty_step;
  }

  // The misreports to start from: those remembered, or drawn like values.
  void fetch_reports() {
    const int64_t batch = recipe_.batch, size = profile_size();
    if (recipe_.samples == 0) {
      setting_.sample(seed_, kMisreportStream, iteration_ * batch, batch, host_.data());
    }
    for (int64_t k = 0; recipe_.samples > 0 && k < batch; ++k) {
      std::copy_n(remembered_.begin() + place(k) * size, size, host_.begin() + k * size);
    }
    reports_.set(std::span<const float>(host_));
  }

  void remember_reports() {
    if (recipe_.samples == 0) return;
    const int64_t size = profile_size();
    lies_.read(std::span<float>(host_));
    for (int64_t k = 0; k < recipe_.batch; ++k) {
      std::copy_n(host_.begin() + k * size, size, remembered_.begin() + place(k) * size);
    }
  }

  std::vector<std::pair<std::string, std::vector<float>*>> buffers() override {
    if (recipe_.samples == 0) return {};
    return {{"misreports", &remembered_}};
  }
  std::vector<std::pair<std::string, std::vector<double>*>> numbers_kept() override {
    return {{"multipliers", &multipliers_}, {"penalty", &penalty_}};
  }

  std::vector<double> multipliers_, penalty_;
  DeviceArray reports_, lies_;  // (batch, n, m): where the search starts and where it ends
  std::optional<Program> climb_, descend_;
  std::vector<float> host_, regret_;
  std::vector<float> remembered_;  // (samples, n, m)
};

}  // namespace

std::vector<RecipeParameter> lagrangian_parameters() {
  return both(
      training_parameters(),
      {recipe_parameter("penalty-every", &Recipe::penalty_every, 1,
                        "iterations between two rises of the penalty"),
       recipe_parameter("multiplier-every", &Recipe::multiplier_every, 1,
                        "iterations between multiplier updates"),
       recipe_parameter("multiplier", &Recipe::multiplier, 0, "Lagrange multipliers at the start"),
       recipe_parameter("penalty", &Recipe::penalty, 0, "quadratic penalty at the start"),
       recipe_parameter("penalty-step", &Recipe::penalty_step, 0, "what the penalty rises by")});
}

std::unique_ptr<ResumableTrainer> lagrangian_trainer(const MechanismKind& kind,
                                                     const Setting& setting, const Recipe& recipe,
                                                     uint64_t seed) {
  return std::make_unique<LagrangianTrainer>(kind, setting, recipe, seed);
}

}  // namespace agora::auctions
