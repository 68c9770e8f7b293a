#include "auctions/training/boosts.h"

#include <algorithm>

namespace agora::auctions {

using namespace compute;

namespace {

// Calls function(name, values) for what there is.
template <typename Own, typename Function>
void each(const BoostLevel& level, Own& learned, Function function) {
  const auto call = [&](const char* name, auto& values) {
    if (!values.empty()) function(name + level.suffix, values);
  };
  call("boosts", learned.boosts);
  call("terms", learned.terms);
  call("weights", learned.weights);
}

}  // namespace

BoostTrainer::BoostTrainer(const MechanismKind& kind, const Setting& setting, const Recipe& recipe,
                           uint64_t seed, std::vector<BoostLevel> levels)
    : CommonTrainer(kind, setting, recipe, seed), levels_(std::move(levels)) {
  Tensors slopes;
  for (const BoostLevel& level : levels_) {
    first_.push_back(level.shape.start(setting));
    each(level, first_.back(), [&](const std::string& name, const std::vector<double>& values) {
      const auto size = static_cast<int64_t>(values.size());
      weights_.push_back(graph_.parameter(name, {size}));
      slopes.push_back(graph_.input("slope." + name, {size}));
    });
  }
  nn::Updates updates = adam(graph_, recipe.weight_decay)("adam", weights_, slopes);
  average_weights(graph_, weights_, recipe.averaging, updates);
  variables_.emplace(graph_);
  variables_->initialize(seed, kWeightStream);
  for (size_t l = 0; l < levels_.size(); ++l) {
    each(levels_[l], first_[l], [&](const std::string& name, const std::vector<double>& values) {
      variables_->set(name, std::span<const double>(values));
    });
  }
  descend_.emplace(graph_, *variables_, Computation{{}, updates}, CompileOptions{.rows = 1});
}

void BoostTrainer::advance(int64_t iterations) {
  for (int64_t k = 0; k < iterations; ++k) iterate();
}

std::unique_ptr<Mechanism> BoostTrainer::mechanism() const {
  Parameters learned;
  write_weights(learned);
  Parameters parameters = parameters_for(kind_.name, setting_);
  parameters.notes = learned.notes;
  for (size_t l = 0; l < levels_.size(); ++l) {
    const BoostLevel& level = levels_[l];
    LearnedBoosts last = first_[l];
    each(level, last, [&](const std::string& name, std::vector<double>& values) {
      values = learned.tensors.at(name).values;
    });
    put(level, level.shape.parameters(kind_.name, setting_, last), parameters);
  }
  return make_mechanism(kind_, std::move(parameters));
}

void BoostTrainer::iterate() {
  std::vector<LearnedBoosts> now = first_;
  std::vector<HardBoosts> hard;
  for (size_t l = 0; l < levels_.size(); ++l) {
    each(levels_[l], now[l], [&](const std::string& name, std::vector<double>& values) {
      values = variables_->get(name);
    });
    hard.push_back(levels_[l].shape.hardened(now[l]));
  }
  std::vector<BoostSlopes> found = slopes(hard, draw_values());
  const auto batch = static_cast<double>(recipe_.batch);
  double revenue = 0;
  for (size_t l = 0; l < levels_.size(); ++l) {
    for (size_t e = 0; e < now[l].terms.size(); ++e) {  // at 0 they can only fall
      if (now[l].terms[e] > 0) found[l].terms[e] = std::min(0.0, found[l].terms[e]);
    }
    if (!found[l].weights.empty()) found[l].weights[0] = 0;  // the others are relative to it
    each(levels_[l], found[l], [&](const std::string& name, std::vector<double>& values) {
      for (double& slope : values) slope /= -batch;  // of the loss
      descend_->set("slope." + name, std::span<const double>(values));
    });
    revenue += found[l].revenue / batch;
  }
  descend_->set("rate", rate());
  descend_->run();
  const float none = 0;
  note(revenue * levels_[0].shape.unit, {&none, 1}, -revenue);
  ++iteration_;
}

namespace {

class OneMaximiser : public BoostTrainer {
 public:
  OneMaximiser(const MechanismKind& kind, const Setting& setting, const Recipe& recipe,
               uint64_t seed)
      : BoostTrainer(kind, setting, recipe, seed, {{BoostShape(setting), ""}}) {}

 private:
  std::vector<BoostSlopes> slopes(const std::vector<HardBoosts>& hard,
                                  std::span<const float> values) const override {
    const BoostShape& shape = levels()[0].shape;
    return {boost_slopes(shape, hard[0], values, temperature(), shape.n)};
  }

  void put(const BoostLevel&, const Parameters& own, Parameters& all) const override {
    all.tensors = own.tensors;
  }
};

}  // namespace

std::unique_ptr<ResumableTrainer> boost_trainer(const MechanismKind& kind, const Setting& setting,
                                                const Recipe& recipe, uint64_t seed) {
  return std::make_unique<OneMaximiser>(kind, setting, recipe, seed);
}

std::vector<RecipeParameter> boost_parameters() {
  std::vector<RecipeParameter> parameters = learning_parameters();
  std::erase_if(parameters, [](const RecipeParameter& each) {
    return each.name == "hidden" || each.name == "width";
  });
  return both(parameters, temperature_parameters());
}

}  // namespace agora::auctions
