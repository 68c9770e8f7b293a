// REINFORCE (Williams, 1992): after a rollout, one step along the mean of
//   grad log pi(a_t | s_t) (G_t - b(s_t)),
// where G_t is the discounted reward that followed on a_t and b a learned guess of it. What follows
// on an episode that the rollout does not see the end of is b's guess too.
#include <algorithm>

#include "agents/algorithm.h"
#include "agents/ppo_parameters.h"
#include "agents/rollout.h"
#include "agents/saved_tensors.h"
#include "agents/streams.h"
#include "base/error.h"
#include "compute/gradients.h"
#include "nn/categorical.h"
#include "nn/optimisers.h"

namespace agora::agents::kind_reinforce {
namespace {

using compute::kRows;
using compute::Tensor;

const std::string kPlayer = "player.", kVariables = "variables.";

std::vector<Parameter> parameters() {
  return ppo_parameters({"rollout", "rate", "discount", "entropy", "value", "max-norm"});
}

struct Recorded {
  Recorded(const Space& space, const NetworkOptions& network, bool masked, const Told& told) {
    seen =
        ActorCritic(graph, "policy", space, network)(observation_input(graph, space.observation));
    const compute::Tensors parameters = graph.parameters();
    Tensor logits = seen.logits;
    if (masked) {
      const Tensor allowed = graph.byte_input("mask", {kRows, space.actions});
      logits = logits + (1.0 - allowed) * static_cast<double>(kForbidden);
    }
    const Tensor action = graph.index_input("action", {kRows});
    const Tensor advantage = graph.input("advantage", {kRows});
    const Tensor target = graph.input("return", {kRows});
    const Tensor policy = -mean(nn::categorical_log_prob(logits, action) * advantage);
    value = 0.5 * mean(square(seen.value - target));
    entropy = mean(nn::categorical_entropy(logits));
    loss = (policy + told.number("value") * value - told.number("entropy") * entropy).named("loss");
    const nn::Adam adam{.rate = nn::constant_rate(told.number("rate"))};
    updates = adam(
        "adam", parameters,
        nn::clip_by_global_norm(compute::gradients(loss, parameters), told.number("max-norm")));
    for (const Tensor each : parameters) names.push_back(each.node().name);
  }

  compute::Graph graph;
  Heads seen;
  Tensor value, entropy, loss;
  nn::Updates updates;
  std::vector<std::string> names;
};

class Reinforce : public AgentLearner, private Actor {
 public:
  Reinforce(const AgentOptions& agent, const Told& told)
      : agent_(agent),
        discount_(told.number("discount")),
        player_(make_environment(agent.environment, {.levels = agent.levels,
                                                     .count = agent.environments,
                                                     .seed = agent.seed,
                                                     .arguments = agent.environment_arguments}),
                told.whole<int64_t>("rollout"), discount_, agent.seed, false),
        space_(player_.environment().space()),
        masked_(!player_.environment().masks().empty()),
        recorded_(space_, agent_.network = resolved(agent.network, space_.observation), masked_,
                  told),
        variables_(recorded_.graph),
        act_(recorded_.graph, variables_,
             {.outputs = {{"logits", recorded_.seen.logits}, {"value", recorded_.seen.value}},
              .updates = {}},
             {.rows = agent.environments}),
        learn_(recorded_.graph, variables_,
               {.outputs = {{"loss", recorded_.loss},
                            {"value_loss", recorded_.value},
                            {"entropy", recorded_.entropy}},
                .updates = recorded_.updates},
               {.rows = player_.rollout().samples()}) {
    variables_.initialize(agent.seed, stream(Stream::kWeights));
    const int64_t each = player_.rollout().samples();
    iterations_ = std::max<int64_t>(1, (agent.steps + each - 1) / each);
  }

  int64_t total() const override { return iterations_; }
  int64_t environment_steps() const override { return player_.steps() * agent_.environments; }

  std::vector<StoredTensor> tensors() const override {
    std::vector<StoredTensor> all = player_.save(kPlayer);
    save_variables(variables_, kVariables, all);
    all.push_back(StoredTensor::of<double>("numbers", {4}, numbers_));
    const std::vector<int64_t> iteration{iteration_};
    all.push_back(StoredTensor::of<int64_t>("iteration", {1}, iteration));
    return all;
  }
  void restore(const Checkpoint& checkpoint) override { load(checkpoint.tensors); }

  NamedNumbers numbers() override {
    const Ended ended = player_.ended();
    const auto episodes = static_cast<double>(std::max<int64_t>(1, ended.episodes));
    const double updates = std::max(1.0, numbers_[3]);
    NamedNumbers all{{"steps", static_cast<double>(environment_steps())},
                     {"return", ended.returns / episodes},
                     {"length", static_cast<double>(ended.steps) / episodes},
                     {"episodes", static_cast<double>(ended.episodes)},
                     {"loss", numbers_[0] / updates},
                     {"value_loss", numbers_[1] / updates},
                     {"entropy", numbers_[2] / updates}};
    numbers_.assign(4, 0.0);
    return all;
  }

  SavedPolicy policy() const override {
    SavedPolicy saved = policy_without_members(agent_, space_);
    saved.members.emplace_back();
    for (StoredTensor& each : variables_.stored()) {
      if (each.name.starts_with("policy.")) saved.members[0].push_back(std::move(each));
    }
    return saved;
  }

 private:
  void iterate() override {
    player_.play(*this);
    Rollout& rollout = player_.rollout();
    estimate_advantages(rollout, discount_, 1);  // reward to go, less the baseline
    set_observations(learn_, space_.observation, rollout.observations);
    if (masked_) learn_.set("mask", std::span<const uint8_t>(rollout.masks));
    learn_.set("action", std::span<const int32_t>(rollout.actions));
    learn_.set("advantage", std::span<const float>(rollout.advantages));
    learn_.set("return", std::span<const float>(rollout.returns));
    learn_.run();
    numbers_[0] += learn_.scalar("loss");
    numbers_[1] += learn_.scalar("value_loss");
    numbers_[2] += learn_.scalar("entropy");
    ++numbers_[3];
  }

  void act(std::span<const std::byte> observations, int64_t rows, std::span<float> logits,
           std::span<float> values) override {
    const auto bytes = static_cast<size_t>(rows * space_.observation.bytes());
    set_observations(act_, space_.observation, observations.first(bytes));
    act_.run(compute::Check::kNothing);
    if (!logits.empty()) act_.read("logits", logits);
    act_.read("value", values);
  }
  void value(std::span<const std::byte> observations, int64_t rows,
             std::span<float> values) override {
    act(observations, rows, {}, values);
  }

  void load(const TensorFile& saved) override {
    player_.restore(saved, kPlayer);
    load_variables(variables_, kVariables, saved);
    numbers_ = saved.at("numbers", {4}).values<double>();
    iteration_ = saved.at("iteration", {1}).values<int64_t>()[0];
  }

  AgentOptions agent_;
  double discount_;
  Player player_;
  Space space_;
  bool masked_;
  Recorded recorded_;
  compute::Variables variables_;
  compute::Program act_, learn_;
  int64_t iterations_ = 0;
  // Since numbers() was called, summed: loss, that of values, entropy; how many.
  std::vector<double> numbers_ = std::vector<double>(4);
};

}  // namespace

Algorithm entry_reinforce() {
  return {.name = "reinforce",
          .summary = "policy gradient of whole returns with a baseline",
          .parameters = parameters(),
          .make = [](const AgentOptions& options) -> std::unique_ptr<AgentLearner> {
            return std::make_unique<Reinforce>(options,
                                               Told("reinforce", parameters(), options.arguments));
          }};
}

}  // namespace agora::agents::kind_reinforce
