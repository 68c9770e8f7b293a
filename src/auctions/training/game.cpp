// The game of an auctioneer and a misreporter (thesis, ch. 5, alg. gameAlgorithm, with the loss
// -(sqrt P - sqrt R) + R of its section on the loss).
#include "auctions/algnet.h"
#include "auctions/training/common.h"
#include "compute/gradients.h"

namespace agora::auctions {

using namespace compute;

namespace {

class GameTrainer : public CommonTrainer {
 public:
  GameTrainer(const MechanismKind& kind, const Setting& setting, const Recipe& recipe,
              uint64_t seed)
      : CommonTrainer(kind, setting, recipe, seed) {
    const int64_t n = setting.bidders(), m = setting.items();
    const Auctioneer auctioneer(graph_, architecture_);
    weights_ = graph_.parameters();
    const Misreporter misreporter(graph_, architecture_, setting);
    const Tensors all = graph_.parameters();
    const Tensors liars(all.begin() + static_cast<int64_t>(weights_.size()), all.end());

    const MechanismStep step = mechanism_step(graph_, auctioneer, architecture_);
    const Tensor regret = sum(step.regret);
    const Tensor loss =
        (-(sqrt(step.revenue) - sqrt(regret + recipe.regret_floor)) + regret).named("loss");
    const nn::Adam optimiser = adam(graph_, recipe.weight_decay);
    nn::Updates updates = optimiser("adam", weights_, gradients(loss, weights_));
    average_weights(graph_, weights_, recipe.averaging, updates);

    const Tensor values = graph_.find("values");
    const Tensor guesses = misreporter(values);
    const Tensor gain = mean(sum(auctioneer.deviating_utility(values, guesses), {-1}));
    const Tensor misreporter_loss = (-gain).named("misreporter's loss");
    const nn::Updates learn =
        optimiser("misreporter_adam", liars, gradients(misreporter_loss, liars));
    Tensor refined = guesses;
    if (recipe.refinements > 0) {
      AscentPlan plan = ascent_plan();
      plan.steps = recipe.refinements;
      plan.keep_best = true;
      refined = ascend(auctioneer, graph_.input("profiles", {kRows, n, m}),
                       graph_.input("own", {kRows, n}),
                       graph_.input("starts", {kRows, starts(), m}), plan);
    }

    variables_.emplace(graph_);
    variables_->initialize(seed, kWeightStream);
    const CompileOptions options{.rows = recipe.batch};
    mislead_.emplace(graph_, *variables_, Task{{{"loss", misreporter_loss}}, learn}, options);
    guess_.emplace(graph_, *variables_, Task{{{"guesses", guesses}}, {}}, options);
    if (recipe.refinements > 0) {
      refine_.emplace(graph_, *variables_, Task{{{"reports", refined}}, {}},
                      CompileOptions{.rows = recipe.batch * n});
      refine_->set("own", std::span<const float>(bidder_marks()));
    }
    descend_.emplace(
        graph_, *variables_,
        Task{{{"loss", loss}, {"revenue", step.revenue}, {"regret", step.regret}}, updates},
        options);
    for (const Update& update : learn) misreporter_state_.push_back(update.variable.node().name);
    before_.resize(misreporter_state_.size());
    regret_.resize(static_cast<size_t>(n));
    values_.resize(static_cast<size_t>(recipe.batch * n * m));
    reports_.resize(values_.size());
  }

  void advance(int64_t iterations) override {
    for (int64_t k = 0; k < iterations; ++k) {
      for (size_t v = 0; v < misreporter_state_.size(); ++v) {
        before_[v] = variables_->get(misreporter_state_[v]);
      }
      try {
        iterate();
      } catch (...) {  // the misreporter has moved, the auctioneer has not
        for (size_t v = 0; v < misreporter_state_.size(); ++v) {
          variables_->set(misreporter_state_[v], std::span<const double>(before_[v]));
        }
        throw;
      }
    }
  }

  double iteration_flops() const override {
    return recipe_.misreport_steps * mislead_->matmul_flops() + guess_->matmul_flops() +
           (refine_ ? refine_->matmul_flops() : 0.0) + descend_->matmul_flops();
  }

 private:
  void iterate() {
    if (recipe_.restart_every > 0 && iteration_ > 0 && iteration_ < recipe_.restart_until &&
        iteration_ % recipe_.restart_every == 0) {
      restart_misreporter();
    }
    fetch_values(values_);
    mislead_->set("values", std::span<const float>(values_));
    mislead_->set("rate", recipe_.misreporter_rate);
    for (int step = 0; step < recipe_.misreport_steps; ++step) mislead_->run();
    guess_->set("values", std::span<const float>(values_));
    guess_->run();
    guess_->read("guesses", std::span<float>(reports_));
    if (refine_) {
      spread(values_, profiles_);
      refine_->set("profiles", std::span<const float>(profiles_));
      gather_starts(values_, reports_, starts_);
      refine_->set("starts", std::span<const float>(starts_));
      refine_->run();
      refine_->read("reports", std::span<float>(reports_));
    }
    descend_->set("values", std::span<const float>(values_));
    descend_->set("misreports", std::span<const float>(reports_));
    descend_->set("rate", rate());
    descend_->run();
    descend_->read("regret", std::span<float>(regret_));
    note(descend_->scalar("revenue"), regret_, descend_->scalar("loss"));
    ++iteration_;
  }

  // Draws the misreporter's weights anew and forgets its optimiser's state.
  void restart_misreporter() {
    Variables fresh(graph_);
    fresh.initialize(seed_, kRestartStream + static_cast<uint32_t>(iteration_));
    for (const std::string& name : misreporter_state_) {
      variables_->set(name, std::span<const double>(fresh.get(name)));
    }
  }

  std::optional<Program> mislead_, guess_, refine_, descend_;
  std::vector<std::string> misreporter_state_;
  std::vector<std::vector<double>> before_;  // of the misreporter, at the start of the iteration
  std::vector<float> values_, reports_, profiles_, starts_, regret_;
};

}  // namespace

std::unique_ptr<ResumableTrainer> game_trainer(const MechanismKind& kind, const Setting& setting,
                                               const Recipe& recipe, uint64_t seed) {
  return std::make_unique<GameTrainer>(kind, setting, recipe, seed);
}

}  // namespace agora::auctions
