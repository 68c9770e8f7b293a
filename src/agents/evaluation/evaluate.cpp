#include "agents/evaluation/evaluate.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "agents/rollout.h"
#include "agents/streams.h"
#include "base/error.h"
#include "base/signals.h"
#include "nn/categorical.h"

namespace agora::agents {
namespace {

constexpr int64_t kResamples = 2000;

}  // namespace

void expect_made_for(const Policy& actor, const Environment& played, const std::string& name) {
  const Space &policy = actor.space(), &environment = played.space();
  if (policy.observation != environment.observation) {
    throw user_error(
        "the policy was made for observations of {} {}, {} has {} {}", policy.observation.size(),
        policy.observation.type == ObservationSpace::Type::kByte ? "bytes" : "numbers", name,
        environment.observation.size(),
        environment.observation.type == ObservationSpace::Type::kByte ? "bytes" : "numbers");
  }
  if (policy.actions != environment.actions) {
    throw user_error("the policy was made for {} actions, {} has {}", policy.actions, name,
                     environment.actions);
  }
}

Interval bootstrap_interval(const std::vector<double>& values, const std::vector<int64_t>& group,
                            uint64_t seed) {
  std::map<int64_t, std::pair<double, int64_t>> sums;
  for (size_t k = 0; k < values.size(); ++k) {
    auto& [sum, count] = sums[group[k]];
    sum += values[k];
    ++count;
  }
  std::vector<std::pair<double, int64_t>> groups;
  for (const auto& [key, entry] : sums) groups.push_back(entry);
  std::vector<double> means(kResamples);
  for (int64_t k = 0; k < kResamples; ++k) {
    Rng rng(seed, stream(Stream::kResampling), static_cast<uint32_t>(k));
    double sum = 0;
    int64_t count = 0;
    for (size_t g = 0; g < groups.size(); ++g) {
      const auto& drawn = groups[rng.below(static_cast<uint32_t>(groups.size()))];
      sum += drawn.first;
      count += drawn.second;
    }
    means[static_cast<size_t>(k)] = sum / static_cast<double>(count);
  }
  std::sort(means.begin(), means.end());
  const auto at = [&](double share) {
    return means[static_cast<size_t>(std::lround(share * (kResamples - 1)))];
  };
  return {at(0.025), at(0.975)};
}

Evaluation evaluate(Policy& policy, const EvaluationOptions& options) {
  if (options.episodes < 1)
    throw user_error("expected at least one episode, found {}", options.episodes);
  const int64_t n = std::min(options.environments, options.episodes);
  const auto env =
      make_environment(options.environment, {.levels = options.levels,
                                             .count = n,
                                             .seed = options.seed,
                                             .arguments = options.environment_arguments});
  expect_made_for(policy, *env, options.environment);
  const auto actions = static_cast<size_t>(env->space().actions);
  const int64_t quota = (options.episodes + n - 1) / n;
  std::vector<float> logits(static_cast<size_t>(n) * actions);
  std::vector<int32_t> chosen(static_cast<size_t>(n));
  std::vector<double> earned(static_cast<size_t>(n));
  std::vector<int64_t> length(static_cast<size_t>(n)), played(static_cast<size_t>(n));
  Evaluation result;
  double lengths = 0;
  for (int64_t row = 0; row < n; ++row) policy.forget(row);
  for (uint32_t step = 0; static_cast<int64_t>(result.returns.size()) < n * quota; ++step) {
    throw_if_stopped();
    policy.logits(env->observations(), n, logits);
    forbid(env->masks(), logits);
    for (int64_t e = 0; e < n; ++e) {
      const auto row = std::span<const float>(logits).subspan(e * actions, actions);
      Rng rng(options.seed, stream(Stream::kEvaluation), step, static_cast<uint32_t>(e));
      chosen[e] = options.greedy ? nn::most_likely(row) : nn::sample_categorical(row, rng);
    }
    policy.did(chosen);
    env->step(chosen);
    for (int64_t e = 0; e < n; ++e) {
      earned[e] += env->rewards()[e];
      ++length[e];
      if (env->ends()[e] == End::kNone) continue;
      if (played[e]++ < quota) {
        result.returns.push_back(earned[e]);
        result.levels.push_back(env->ended_levels()[e]);
        lengths += static_cast<double>(length[e]);
      }
      earned[e] = 0;
      length[e] = 0;
      policy.forget(e);
    }
  }
  result.episodes = static_cast<int64_t>(result.returns.size());
  const auto count = static_cast<double>(result.episodes);
  result.mean = std::accumulate(result.returns.begin(), result.returns.end(), 0.0) / count;
  result.length = lengths / count;
  const auto [low, high] = bootstrap_interval(result.returns, result.levels, options.seed);
  result.low = low;
  result.high = high;
  const Space& space = env->space();
  result.normalised =
      space.most > space.least ? (result.mean - space.least) / (space.most - space.least) : 0.0;
  return result;
}

}  // namespace agora::agents
