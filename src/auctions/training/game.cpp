// The game of an auctioneer and a misreporter (thesis, ch. 5, alg. gameAlgorithm, with the loss
// -(sqrt P - sqrt R) + R of its section on the loss).
#include <algorithm>
#include <cmath>

#include "auctions/algnet.h"
#include "auctions/training/common.h"
#include "auctions/training/misreporter.h"
#include "compute/gradients.h"

namespace agora::auctions {

using namespace compute;

namespace {

class GameTrainer : public CommonTrainer {
 public:
  GameTrainer(const MechanismKind& kind, const Setting& setting, const Recipe& recipe,
              uint64_t seed)
      : CommonTrainer(kind, setting, recipe, seed),
        guesses_(values_.count()),
        refined_(values_.count()) {
    const int64_t n = setting.bidders();
    const Auctioneer auctioneer(graph_, architecture_);
    weights_ = graph_.parameters();
    const Misreporter misreporter(graph_, architecture_, setting);
    const Tensors all = graph_.parameters();
    const Tensors liars(all.begin() + static_cast<int64_t>(weights_.size()), all.end());

    const MechanismStep step = mechanism_step(graph_, auctioneer, architecture_);
    const Tensor regret = sum(step.regret) * graph_.input("regret weight", {});
    const Tensor loss =
        (-(sqrt(step.revenue) - sqrt(regret + recipe.regret_floor)) + regret).named("loss");
    const nn::Adam optimiser = adam(graph_, recipe.weight_decay);
    nn::Updates updates = optimiser("adam", weights_, gradients(loss, weights_));
    average_weights(graph_, weights_, recipe.averaging, updates);

    const Tensor values = graph_.find("values");
    const Tensor guesses = misreporter(values);
    const Tensor gain = mean(sum(auctioneer.deviating_utility(values, guesses), {-1}));
    const Tensor misreporter_loss = (-gain).named("misreporter's loss");
    const nn::Updates learn = optimiser(
        "misreporter_adam", liars, scaled_gradients(misreporter_loss, liars, kMisreporterScale));
    Tensor refined;
    if (recipe.refinements > 0) {
      AscentPlan plan = ascent_plan();
      plan.steps = recipe.refinements;
      plan.keep_best = true;
      refined = record_search(auctioneer, plan);
    }

    variables_.emplace(graph_);
    variables_->initialize(seed, kWeightStream);
    const CompileOptions options{.rows = recipe.batch};
    mislead_.emplace(graph_, *variables_, Computation{{{"loss", misreporter_loss}}, learn},
                     CompileOptions{.rows = recipe.batch, .short_products = true});
    guess_.emplace(graph_, *variables_, Computation{{{"guesses", guesses}}, {}}, options);
    if (recipe.refinements > 0) {
      refine_.emplace(graph_, *variables_, Computation{{{"lies", refined}}, {}},
                      CompileOptions{.rows = recipe.batch * n, .short_products = true});
      prepare_search(*refine_);
      refine_->bind("reports", guesses_);
      refine_->bind("lies", refined_);
    }
    descend_.emplace(
        graph_, *variables_,
        Computation{{{"loss", loss}, {"revenue", step.revenue}, {"regret", step.regret}}, updates},
        options);
    mislead_->bind("values", values_);
    guess_->bind("values", values_);
    guess_->bind("guesses", guesses_);
    descend_->bind("values", values_);
    descend_->bind("misreports", refine_ ? refined_ : guesses_);
    for (const Update& update : learn) misreporter_state_.push_back(update.variable.node().name);
    before_.emplace(*variables_, misreporter_state_);
    regret_.resize(static_cast<size_t>(n));
  }

  void advance(int64_t iterations) override {
    for (int64_t k = 0; k < iterations; ++k) {
      try {
        attempt(Check::kNothing);
      } catch (const NotFinite&) {
        attempt(Check::kFinite);  // fails again, and says where it begins
      }
    }
  }

  double iteration_flops() const override {
    return recipe_.misreport_steps * mislead_->matmul_flops() + guess_->matmul_flops() +
           (refine_ ? refine_->matmul_flops() : 0.0) + descend_->matmul_flops();
  }

 private:
  // `check` is for all steps of the misreporter but the last.
  void attempt(Check check) {
    before_->take();
    try {
      iterate(check);
    } catch (...) {  // the misreporter has moved, the auctioneer has not
      before_->restore();
      throw;
    }
  }

  // Values go to the device at the start and three numbers come back at the end.
  void iterate(Check check) {
    if (recipe_.restart_every > 0 && iteration_ > 0 && iteration_ < recipe_.restart_until &&
        iteration_ % recipe_.restart_every == 0) {
      restart_misreporter();
    }
    fetch_values();
    mislead_->set("rate", recipe_.misreporter_rate);
    if (check == Check::kNothing) {
      mislead_->repeat(recipe_.misreport_steps);
    } else {
      for (int step = 1; step <= recipe_.misreport_steps; ++step) mislead_->run();
    }
    guess_->run();
    if (refine_) {
      draw_starts(*refine_);
      refine_->run();
    }
    descend_->set("rate", rate());
    descend_->set("regret weight", regret_weight());
    descend_->run();
    descend_->read("regret", std::span<float>(regret_));
    note(descend_->scalar("revenue"), regret_, descend_->scalar("loss"));
    ++iteration_;
  }

  // Rises geometrically to 1.
  double regret_weight() const {
    const double half = static_cast<double>(recipe_.iterations) / 2;
    return std::pow(recipe_.regret_weight,
                    1 - std::min(1.0, static_cast<double>(iteration_) / half));
  }

  // Draws the misreporter's weights anew and forgets its optimiser's state.
  void restart_misreporter() {
    Variables fresh(graph_);
    fresh.initialize(seed_, kRestartStream + static_cast<uint32_t>(iteration_));
    for (const std::string& name : misreporter_state_) {
      variables_->set(name, std::span<const double>(fresh.get(name)));
    }
  }

  DeviceArray guesses_, refined_;  // (batch, n, m)
  std::optional<Program> mislead_, guess_, refine_, descend_;
  std::vector<std::string> misreporter_state_;
  std::optional<Snapshot> before_;  // of the misreporter, at the start of the iteration
  std::vector<float> regret_;
};

}  // namespace

std::vector<RecipeParameter> game_parameters() {
  return both(
      training_parameters(),
      {recipe_parameter("refinements", &Recipe::refinements, 0,
                        "ascent steps after the misreporter's guess"),
       recipe_parameter("restart-every", &Recipe::restart_every, 0,
                        "draw the misreporter anew; 0: never"),
       recipe_parameter("restart-until", &Recipe::restart_until, 0, "only before this iteration"),
       recipe_parameter("misreporter-rate", &Recipe::misreporter_rate, 0,
                        "the misreporter's learning rate"),
       recipe_parameter("regret-floor", &Recipe::regret_floor, kAboveZero,
                        "added to the regret under the loss's root"),
       recipe_parameter("regret-weight", &Recipe::regret_weight, kAboveZero,
                        "of the regret at first; rises to 1 until half way", 1)});
}

std::unique_ptr<ResumableTrainer> game_trainer(const MechanismKind& kind, const Setting& setting,
                                               const Recipe& recipe, uint64_t seed) {
  return std::make_unique<GameTrainer>(kind, setting, recipe, seed);
}

}  // namespace agora::auctions
