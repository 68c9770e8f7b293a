#include <agora/planning/load.h>
#include <agora/planning/solve.h>
#include <gtest/gtest.h>

#include <cmath>

#include "agents/algorithm.h"
#include "agents/evaluation/evaluate.h"
#include "agents/players.h"
#include "agents/rollout.h"

namespace agora::agents {
namespace {

const char* const kModel =
    "state,action,next_state,probability,reward\n"
    "a,go,b,1,-1\na,stay,a,1,-.3\n"
    "b,go,c,1,-2\nb,stay,d,1,-.5\n"
    "c,go,end,1,3\n"
    "d,go,a,1,1\nd,stay,end,1,.5\n";
constexpr double kDiscount = 0.9;

AgentOptions on_model(const std::filesystem::path& file) {
  return {
      .environment = "tabular",
      .environment_arguments = {{"model", file.string()}, {"discount", kDiscount}, {"limit", 5}},
      .levels = Levels::range(0, 1),
      .environments = 4,
      .seed = 4,
      .network = {.kind = "mlp", .layers = 0},
      .arguments = {{"discount", kDiscount}, {"rollout", 12.0}}};
}

std::vector<double> numbers(const std::vector<StoredTensor>& tensors, const std::string& name) {
  TensorFile file;
  file.tensors = tensors;
  return file.at(name).values<double>();
}

class FunctionActor : public Actor {
 public:
  using Function = std::function<void(std::span<const std::byte>, int64_t, std::span<float> logits,
                                      std::span<float> values)>;
  explicit FunctionActor(Function function) : function_(std::move(function)) {}
  void act(std::span<const std::byte> seen, int64_t rows, std::span<float> logits,
           std::span<float> values) override {
    function_(seen, rows, logits, values);
  }
  void value(std::span<const std::byte> seen, int64_t rows, std::span<float> values) override {
    function_(seen, rows, {}, values);
  }

 private:
  Function function_;
};

// The definition, with sums over what followed: the first moments of Adam after one step are a
// tenth of the gradient.
TEST(Reinforce, FollowsThePolicyGradient) {
  const Scratch scratch;
  AgentOptions options = on_model(scratch.put("loop.csv", kModel));
  options.arguments.merge(Arguments{{"entropy", 0.0}, {"value", 0.5}, {"max-norm", 1e6}});
  const auto learner = algorithm_named("reinforce").make(options);
  const auto before = learner->tensors();
  const auto actor = numbers(before, "variables.policy.actor.weight");
  const auto actor_bias = numbers(before, "variables.policy.actor.bias");
  const auto critic = numbers(before, "variables.policy.critic.weight");
  const auto critic_bias = numbers(before, "variables.policy.critic.bias");

  // The same rollout, played here.
  auto environment =
      make_environment(options.environment, {.levels = options.levels,
                                             .count = options.environments,
                                             .seed = options.seed,
                                             .arguments = options.environment_arguments});
  const auto states = static_cast<size_t>(environment->space().observation.size());
  const auto actions = static_cast<size_t>(environment->space().actions);
  const auto state_in = [&](std::span<const std::byte> seen, size_t row) {
    for (size_t s = 0; s < states; ++s) {
      if (seen[row * states + s] == std::byte{255}) return s;
    }
    return states;
  };
  Player player(std::move(environment), 12, kDiscount, options.seed, false);
  FunctionActor player_of([&](std::span<const std::byte> seen, int64_t rows,
                              std::span<float> logits, std::span<float> values) {
    for (size_t row = 0; row < static_cast<size_t>(rows); ++row) {
      const size_t s = state_in(seen, row);
      for (size_t a = 0; a < logits.size() / static_cast<size_t>(rows); ++a) {
        logits[row * actions + a] = static_cast<float>(actor[s * actions + a] + actor_bias[a]);
      }
      values[row] = static_cast<float>(critic[s] + critic_bias[0]);
    }
  });
  const Rollout& rollout = player.play(player_of);
  const auto samples = static_cast<size_t>(rollout.samples()), count = size_t{4};
  std::vector<double> actor_gradient(actor.size()), critic_gradient(critic.size());
  int cut = 0, ended = 0;
  for (size_t k = 0; k < samples; ++k) {
    double to_go = 0, weight = 1;
    for (size_t later = k;; later += count) {
      to_go += weight * rollout.rewards[later];
      weight *= kDiscount;
      if (rollout.ends[later] == End::kTerminated) {
        ++ended;
        break;
      }
      if (rollout.ends[later] == End::kCutOff) {
        to_go += weight * rollout.after[later];
        ++cut;
        break;
      }
      if (later + count >= samples) {
        to_go += weight * rollout.last_values[later % count];
        break;
      }
    }
    const size_t s = state_in(rollout.observations, k);
    const double advantage = to_go - rollout.values[k];
    std::vector<double> p(actions);
    double sum = 0;
    for (size_t a = 0; a < actions; ++a) {
      if (rollout.masks[k * actions + a] == 0) continue;
      sum += p[a] = std::exp(actor[s * actions + a] + actor_bias[a]);
    }
    for (size_t a = 0; a < actions; ++a) {
      const double chosen = rollout.actions[k] == static_cast<int32_t>(a) ? 1 : 0;
      actor_gradient[s * actions + a] -=
          advantage * (chosen - p[a] / sum) / static_cast<double>(samples);
    }
    critic_gradient[s] -= 0.5 * advantage / static_cast<double>(samples);
  }
  ASSERT_GT(cut, 0);
  ASSERT_GT(ended, 0);
  learner->advance(1);
  const auto after = learner->tensors();
  const auto moment = numbers(after, "variables.adam.first.policy.actor.weight");
  for (size_t k = 0; k < moment.size(); ++k) EXPECT_NEAR(moment[k], 0.1 * actor_gradient[k], 1e-6);
  const auto value_moment = numbers(after, "variables.adam.first.policy.critic.weight");
  for (size_t k = 0; k < critic.size(); ++k) {
    EXPECT_NEAR(value_moment[k], 0.1 * critic_gradient[k], 1e-6);
  }
}

// Without an entropy bonus the policy becomes the planner's, and the baseline its value.
TEST(Reinforce, ComesToThePlannersPolicy) {
  const Scratch scratch;
  const auto file = scratch.put("loop.csv", kModel);
  AgentOptions options = on_model(file);
  options.environment_arguments.insert_or_assign("limit", 40.0);
  options.environments = 32;
  options.steps = 150'000;
  options.arguments.merge(
      Arguments{{"entropy", 0.0}, {"rate", 0.02}, {"value", 1.0}, {"max-norm", 1e6}});
  const auto learner = algorithm_named("reinforce").make(options);
  learner->advance(learner->total());
  const planning::Model model = planning::load(file.string());
  const planning::Solution best = planning::ValueIteration{.discount = kDiscount}(model);
  const auto tensors = learner->tensors();
  const auto weight = numbers(tensors, "variables.policy.critic.weight");
  const auto bias = numbers(tensors, "variables.policy.critic.bias");
  const planning::State start = model.start()[0].state;
  EXPECT_NEAR(weight[static_cast<size_t>(start)] + bias[0], planning::start_value(model, best),
              0.02);
  // The planner's way from the start, and nothing else.
  const auto actor = make_policy(learner->policy(), 1);
  planning::State s = start;
  for (int step = 0; step < 10 && !model.terminal(s); ++step) {
    std::vector<std::byte> seen(static_cast<size_t>(model.states()));
    seen[static_cast<size_t>(s)] = std::byte{255};
    std::vector<float> logits(static_cast<size_t>(model.actions()));
    actor->logits(seen, 1, logits);
    const planning::Action wanted = best.policy.best(s);
    for (planning::Action a = 0; a < model.actions(); ++a) {
      if (a == wanted || !model.has(s, a)) continue;
      EXPECT_GT(logits[static_cast<size_t>(wanted)], logits[static_cast<size_t>(a)] + 3) << s;
    }
    s = model.transition(s, wanted, 0).next;
  }
}

}  // namespace
}  // namespace agora::agents
