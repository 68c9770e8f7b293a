// Environments stepped with random actions, beginnings of new episodes included, as a learner does
// it.
//
//   bench_agents [--threads N] [WORK...]
#include <memory>

#include "agents/environment.h"
#include "agents/procgen/games.h"
#include "agents/procgen/state.h"
#include "base/rng.h"
#include "bench/works.h"

namespace agora::bench {
namespace {

using namespace agora::agents;

constexpr int64_t kCount = 64, kSteps = 2048, kSlowSteps = 256;
constexpr uint64_t kSeed = 1;

std::shared_ptr<const std::vector<int32_t>> random_actions(int32_t actions, int64_t steps) {
  auto all = std::make_shared<std::vector<int32_t>>(kCount * steps);
  Rng rng(1);
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
  return all;
}

}  // namespace
}  // namespace agora::bench

int main(int count, char** arguments) {
  using namespace agora::bench;
  return run_program(
      count, arguments, [](OptionList&) {}, [](const Asked& asked) { answer(works(), asked); });
}
