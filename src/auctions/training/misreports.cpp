#include "auctions/training/misreports.h"

#include <cmath>

#include "compute/gradients.h"
#include "nn/optimisers.h"

namespace agora::auctions {

using namespace compute;

Tensor identity(Graph& graph, int64_t n) {
  std::vector<double> values(static_cast<size_t>(n * n));
  for (int64_t i = 0; i < n; ++i) values[static_cast<size_t>(i * n + i)] = 1;
  return graph.constant(values, {n, n});
}

Tensor misreport_profiles(Tensor values, Tensor misreports) {
  const int64_t n = values.size(1), m = values.size(2);
  return where(reshape(identity(*values.graph, n), {n, n, 1}),
               reshape(misreports, {kRows, n, 1, m}), reshape(values, {kRows, 1, n, m}));
}

Tensor misreport_utilities(const Network& network, Tensor values, Tensor misreports) {
  const int64_t n = values.size(1), m = values.size(2);
  const Tensor bids = misreport_profiles(values, misreports);
  const Decision decision = network(bids);
  const Tensor worth = sum(decision.allocation * reshape(values, {kRows, 1, n, m}), {-1});
  return sum((worth - payments(decision, bids)) * identity(*values.graph, n), {-1});
}

namespace {

// The start whose utility is the highest: (rows, m).
Tensor best_of(const Network& network, Tensor values, Tensor own, Tensor starts) {
  const int64_t n = values.size(1), m = values.size(2), k = starts.size(1);
  if (k == 1) return reshape(starts, {kRows, m});
  const Tensor mine = reshape(own, {kRows, 1, n, 1});
  const Tensor bids =
      where(mine, reshape(starts, {kRows, k, 1, m}), reshape(values, {kRows, 1, n, m}));
  const Decision decision = network(bids);
  const Tensor worth = sum(decision.allocation * reshape(values, {kRows, 1, n, m}), {-1});
  const Tensor utility =
      sum((worth - payments(decision, bids)) * reshape(own, {kRows, 1, n}), {-1});  // (rows, k)
  const Tensor best = equal(utility, max(utility, {-1}, Keep::kYes));
  const Tensor weight = best / sum(best, {-1}, Keep::kYes);  // ties share
  return sum(starts * reshape(weight, {kRows, k, 1}), {1});
}

}  // namespace

Tensor ascend(const Network& network, Tensor values, Tensor own, Tensor starts,
              const AscentPlan& plan) {
  constexpr double kFirst = 0.9, kSecond = 0.999, kEpsilon = 1e-8, kScale = 256;
  const int64_t n = values.size(1), m = values.size(2);
  Graph& graph = *values.graph;
  const Tensor start = best_of(network, values, own, starts);
  const Tensor mine = reshape(own, {kRows, n, 1});
  const auto of_own = [&](const std::vector<double>& all) {  // (n, m) -> (rows, m)
    return sum(mine * graph.constant(all, {n, m}), {1});
  };
  const Tensor truth = sum(values * mine, {1});  // (rows, m)
  const Tensor low = of_own(plan.low), high = of_own(plan.high), range = of_own(plan.range);
  const Tensor zero = broadcast(graph.constant(0), start.shape());
  const Tensor nothing = broadcast(graph.constant(-1e30), {kRows, 1});
  const nn::Schedule falling =
      plan.steps > 1 ? nn::exponential_rate(plan.rate, plan.final_rate / plan.rate, plan.steps - 1)
                     : nn::exponential_rate(plan.rate, 1, 1);
  Tensors state{start, zero, zero};
  if (plan.keep_best) state.insert(state.end(), {start, nothing});
  const Tensors end = repeat(plan.steps, state, [&](const Tensors& s, Tensor step) -> Tensors {
    const Tensor bid = s[0];
    const Decision decision = network(where(mine, reshape(bid, {kRows, 1, m}), values));
    const Tensor won = sum(decision.allocation * mine, {1});  // (rows, m)
    const Tensor fraction = sum(decision.fraction * own, {-1}, Keep::kYes);
    const Tensor utility =
        sum(won * truth, {-1}, Keep::kYes) - fraction * sum(won * bid, {-1}, Keep::kYes);
    // In units of the scaled bid, so that steps and epsilon mean the same in every setting.
    const Tensor slope = scaled_gradients(utility, {bid}, kScale)[0] * range;
    const Tensor first = kFirst * s[1] + (1 - kFirst) * slope;
    const Tensor second = kSecond * s[2] + (1 - kSecond) * square(slope);
    const Tensor rate = falling(step - 1.0) * sqrt(1.0 - exp(step * std::log(kSecond))) /
                        (1.0 - exp(step * std::log(kFirst)));
    const Tensor move = range * reshape(rate, {kRows, 1}) * first / (sqrt(second) + kEpsilon);
    Tensors next{minimum(maximum(bid + move, low), high), first, second};
    if (plan.keep_best) {
      const Tensor better = greater(utility, s[4]);
      next.insert(next.end(), {where(better, bid, s[3]), where(better, utility, s[4])});
    }
    return next;
  });
  return end[plan.keep_best ? 3 : 0];
}

}  // namespace agora::auctions
