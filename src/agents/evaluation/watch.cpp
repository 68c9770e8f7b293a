#include "agents/evaluation/watch.h"

#include "agents/rollout.h"
#include "agents/streams.h"
#include "base/signals.h"
#include "nn/categorical.h"

namespace agora::agents {

std::vector<Episode> watch(
    Policy& policy, const EvaluationOptions& options,
    const std::function<void(const Environment::Picture&, const Episode& so_far)>& show) {
  const auto env =
      make_environment(options.environment, {.levels = options.levels,
                                             .count = 1,
                                             .seed = options.seed,
                                             .arguments = options.environment_arguments});
  expect_made_for(policy, *env, options.environment);
  std::vector<float> logits(static_cast<size_t>(env->space().actions));
  std::vector<Episode> all;
  policy.forget(0);
  Episode now{.level = env->levels()[0]};
  for (uint32_t step = 0; static_cast<int64_t>(all.size()) < options.episodes; ++step) {
    throw_if_stopped();
    show(env->picture(0), now);
    policy.logits(env->observations(), 1, logits);
    forbid(env->masks(), logits);
    Rng rng(options.seed, stream(Stream::kEvaluation), step);
    const int32_t action =
        options.greedy ? nn::most_likely(logits) : nn::sample_categorical(logits, rng);
    policy.did(std::span(&action, 1));
    env->step(std::span(&action, 1));
    now.earned += env->rewards()[0];
    ++now.steps;
    if (env->ends()[0] == End::kNone) continue;
    now.cut_off = env->ends()[0] == End::kCutOff;
    all.push_back(now);
    now = {.level = env->levels()[0]};
    policy.forget(0);
  }
  return all;
}

}  // namespace agora::agents
