// Environments stepped with random actions, beginnings of new episodes included, and PPO from end
// to end.
//
//   bench_agents [--threads N] [--pictures ENVIRONMENT] [WORK...]
//   bench_agents --serve --threads N --inputs FOLDER
//                answers each line `WORK REPS` by one line of JSON; before the first answer of a
//                work of PPO, FOLDER/WORK.safetensors holds what a peer needs to do the same
#include <cmath>
#include <filesystem>
#include <memory>

#include "agents/algorithm.h"
#include "agents/environment.h"
#include "agents/ppo.h"
#include "agents/procgen/games.h"
#include "agents/procgen/state.h"
#include "agents/saved_tensors.h"
#include "base/rng.h"
#include "bench/works.h"

namespace agora::bench {
namespace {

using namespace agora::agents;

constexpr int64_t kCount = 64, kSteps = 2048, kSlowSteps = 256;
constexpr int64_t kLevels = 200, kRollout = 256;
constexpr int64_t kPictureRollout = 32;  // with pictures: one minibatch of the 8
constexpr double kRewardDiscount = 0.99;
constexpr uint64_t kSeed = 1;
std::filesystem::path inputs;  // empty: nobody else needs them
std::string pictures = "maze/pixels";

std::shared_ptr<const std::vector<int32_t>> random_actions(int32_t actions, int64_t steps) {
  auto all = std::make_shared<std::vector<int32_t>>(kCount * steps);
  Rng rng(kSeed);
  for (int32_t& action : *all) {
    action = static_cast<int32_t>(rng.below(static_cast<uint32_t>(actions)));
  }
  return all;
}

// Steps of all environments per second; the return of an episode is the answer.
Work environment_work(const std::string& name, const Arguments& arguments, int64_t steps) {
  const std::shared_ptr<Environment> environment = make_environment(
      name, {.levels = Levels::all(), .count = kCount, .seed = kSeed, .arguments = arguments});
  const auto actions = random_actions(environment->space().actions, steps);
  const auto run = [=]() -> Answer {
    double reward = 0, episodes = 0;
    for (int64_t step = 0; step < steps; ++step) {
      environment->step(std::span<const int32_t>(actions->data() + step * kCount, kCount));
      for (size_t i = 0; i < kCount; ++i) {
        reward += static_cast<double>(environment->rewards()[i]);
        episodes += environment->ends()[i] != End::kNone;
      }
    }
    return {{"return", reward / episodes}, {"episodes", episodes}};
  };
  return {.run = run, .flops = 0, .amount = static_cast<double>(kCount * steps)};
}

// The same games, level by level, as Procgen's library steps them by itself, with as many threads.
Work library_work(const std::string& game) {
  using procgen::Games, procgen::kObservation;
  const auto seen = std::make_shared<std::vector<std::byte>>(kCount * kObservation);
  const int threads = default_pool().threads();
  const procgen::Settings settings{.game = game, .seed = 1, .threads = threads > 1 ? threads : 0};
  const auto games = std::make_shared<Games>(settings, *seen);
  std::string state;
  for (int i = 0; i < kCount; ++i) {
    games->get_state(state, i);
    procgen::plan_levels(state, 0,
                         [&](int64_t episode) { return Levels::all().draw(kSeed, i, episode); });
    games->set_state(state, i);
  }
  games->step(std::vector<int32_t>(kCount, procgen::kBeginAnew));
  const auto actions = random_actions(procgen::kActions, kSlowSteps);
  const auto run = [=]() -> Answer {
    double reward = 0, episodes = 0;
    for (int64_t step = 0; step < kSlowSteps; ++step) {
      games->step(std::span<const int32_t>(actions->data() + step * kCount, kCount));
      for (size_t i = 0; i < kCount; ++i) {
        reward += static_cast<double>(games->reward(i));
        episodes += games->ended(i);
      }
    }
    return {{"return", reward / episodes}, {"episodes", episodes}};
  };
  // The pictures are the games' own; `seen` lives as long as they do.
  return {.run = [run, seen] { return run(); }, .flops = 0, .amount = kCount * kSlowSteps};
}

std::unique_ptr<Environment> training_levels(const std::string& name) {
  return make_environment(
      name, {.levels = Levels::range(0, kLevels), .count = kCount, .seed = kSeed, .arguments = {}});
}

// A policy, its environments, and what it saw in them.
struct Played {
  Played(const std::string& environment, int64_t steps, const PpoOptions& options)
      : player(training_levels(environment), steps, kRewardDiscount, kSeed),
        space(player.environment().space()),
        member(space, resolved({}, space.observation), options, {}, false, kCount, steps * kCount) {
    member.initialise(kSeed, 0);
    player.play(member);
    estimate_advantages(player.rollout(), options.discount, options.lambda);
  }

  // Weights and the rollout, without what follows from it.
  std::vector<StoredTensor> tensors() {
    const Rollout& seen = player.rollout();
    std::vector<int64_t> shape{seen.steps, seen.count};
    std::vector<StoredTensor> all = stored_under(member.variables(), member.parameter_names());
    const auto put = [&](const std::string& name, auto values, std::vector<int64_t> of) {
      using T = typename decltype(values)::value_type;
      all.push_back(StoredTensor::of<T>(name, std::move(of), values));
    };
    const auto bytes = std::span(reinterpret_cast<const uint8_t*>(seen.observations.data()),
                                 seen.observations.size());
    std::vector<uint8_t> ends;
    for (const End end : seen.ends) ends.push_back(static_cast<uint8_t>(end));
    put("actions", std::span<const int32_t>(seen.actions), shape);
    put("log_probs", std::span<const float>(seen.log_probs), shape);
    put("values", std::span<const float>(seen.values), shape);
    put("rewards", std::span<const float>(seen.rewards), shape);
    put("after", std::span<const float>(seen.after), shape);
    put("ends", std::span<const uint8_t>(ends), shape);
    put("last_values", std::span<const float>(seen.last_values), {seen.count});
    shape.insert(shape.end(), space.observation.shape.begin(), space.observation.shape.end());
    put("observations", bytes, shape);
    return all;
  }

  Player player;
  Space space;
  PpoMember member;
};

void publish(const std::string& work, std::vector<StoredTensor> tensors) {
  if (inputs.empty()) return;
  write_safetensors(inputs / (work + ".safetensors"),
                    {.tensors = std::move(tensors), .metadata = {}, .path = {}});
}

// The beginning of each level of the symbolic maze: walls, agent and goal.
StoredTensor beginnings() {
  std::vector<uint8_t> all;
  std::vector<int64_t> shape{kLevels};
  for (int64_t level = 0; level < kLevels; ++level) {
    const auto one = make_environment(
        "maze", {.levels = Levels::range(level, 1), .count = 1, .seed = 0, .arguments = {}});
    for (const std::byte each : one->observations()) all.push_back(static_cast<uint8_t>(each));
    const auto& of_one = one->space().observation.shape;
    if (level == 0) shape.insert(shape.end(), of_one.begin(), of_one.end());
  }
  return StoredTensor::of<uint8_t>("levels", shape, std::span<const uint8_t>(all));
}

// One iteration of PPO on the symbolic maze, as `agent train` runs it. The answer is the loss of a
// first rollout and the norm of its gradient.
Work ppo_maze() {
  Played first("maze", kRollout, {});
  std::vector<StoredTensor> tensors = first.tensors();
  tensors.push_back(beginnings());
  publish("ppo-maze", std::move(tensors));
  const PpoGradient slope = first.member.gradient(first.player.rollout(), {});
  double square = 0;
  for (const StoredTensor& each : slope.tensors) {
    for (const double value : each.values<double>()) square += value * value;
  }
  AgentOptions options;
  options.environment = "maze";
  options.levels = Levels::range(0, kLevels);
  options.environments = kCount;
  options.seed = kSeed;
  options.arguments = {{"rollout", static_cast<double>(kRollout)}};
  const std::shared_ptr<AgentLearner> learner = algorithm_named("ppo").make(options);
  const auto run = [=, found = slope.numbers]() -> Answer {
    learner->advance(1);
    return {{"loss", found.loss},
            {"value_loss", found.value},
            {"entropy", found.entropy},
            {"norm", std::sqrt(square)}};
  };
  return {.run = run, .flops = 0, .amount = kCount * kRollout};
}

// With pictures an iteration takes long: an eighth of its acting, and one of its 24 minibatches.
Work ppo_pictures_act() {
  const auto played = std::make_shared<Played>(pictures, kPictureRollout, PpoOptions{});
  publish("ppo-pictures-act", played->tensors());
  double sum = 0;
  for (const float value : played->player.rollout().values) sum += value;
  return {.run = [=]() -> Answer {
            played->player.play(played->member);
            return {{"value", sum / static_cast<double>(played->player.rollout().samples())}};
          },
          .flops = 0,
          .amount = kCount* kPictureRollout};
}

Work ppo_pictures_learn() {
  const auto played = std::make_shared<Played>(pictures, kPictureRollout,
                                               PpoOptions{.epochs = 1, .minibatches = 1});
  publish("ppo-pictures-learn", played->tensors());
  return {.run = [=]() -> Answer {
            const PpoNumbers found =
                played->member.update(played->player.rollout(), {}, kSeed, 0, 0);
            return {{"loss", found.loss}, {"value_loss", found.value}};
          },
          .flops = 0,
          .amount = kCount* kPictureRollout};
}

Works works() {
  Works all;
  const auto add = [&](const std::string& work, const std::string& name,
                       const Arguments& arguments = {}, int64_t steps = kSteps) {
    all.emplace_back(work, [=] { return environment_work(name, arguments, steps); });
  };
  add("maze-symbols", "maze/symbols");
  add("maze-pixels", "maze/pixels");
  add("heist-symbols", "heist/symbols");
  add("heist-pixels", "heist/pixels");
  add("zookeeper", "zookeeper");
  add("tabular", "tabular", {{"model", "slippery-cliff"}});
  add("classify", "classify");
  for (const std::string game : {"maze", "heist", "bigfish", "dodgeball", "coinrun"}) {
    add("procgen-" + game, "procgen/" + game, {}, kSlowSteps);
    all.emplace_back("procgen-" + game + "-library", [=] { return library_work(game); });
  }
  all.emplace_back("ppo-maze", ppo_maze);
  all.emplace_back("ppo-pictures-act", ppo_pictures_act);
  all.emplace_back("ppo-pictures-learn", ppo_pictures_learn);
  return all;
}

}  // namespace
}  // namespace agora::bench

int main(int count, char** arguments) {
  using namespace agora::bench;
  return run_program(
      count, arguments,
      [](OptionList& app) {
        app.add("--inputs", inputs, "Folder to write what the peers need to");
        app.add("--pictures", pictures, "Environment of the works on pictures");
      },
      [](const Asked& asked) { answer(works(), asked); });
}
