#include "nn/optimisers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/error.h"

namespace agora::nn {
namespace {

void check_pairs(const Tensors& params, const Tensors& grads) {
  CHECK(!params.empty() && params.size() == grads.size(), "{} parameters, {} gradients",
        params.size(), grads.size());
  for (size_t i = 0; i < params.size(); ++i) {
    CHECK(params[i].shape() == grads[i].shape(), "'{}' has shape {}, its gradient {}",
          params[i].node().name, compute::to_string(params[i].shape()),
          compute::to_string(grads[i].shape()));
  }
}

Tensor state_like(std::string_view name, std::string_view what, Tensor param) {
  return param.graph->variable(fmt::format("{}.{}.{}", name, what, param.node().name),
                               param.shape());
}

}  // namespace

double Schedule::at(double steps) const {
  CHECK(on_host_, "a rate that is fed");
  return on_host_(steps);
}

Schedule constant_rate(double rate) {
  return {[=](Tensor made) { return made.graph->constant(rate); }, [=](double) { return rate; }};
}

Schedule linear_rate(double from, double to, double steps) {
  return {[=](Tensor made) { return from + (to - from) * minimum(made / steps, 1.0); },
          [=](double made) { return from + (to - from) * std::min(made / steps, 1.0); }};
}

Schedule cosine_rate(double from, double to, double steps) {
  const auto in_graph = [=](Tensor made) {
    // (1 + cos(pi t)) / 2 = cos(pi t / 2)^2, by the Taylor series, which is exact to 1e-16 here.
    const double quarter = std::acos(0.0);
    const Tensor squared = square(quarter * minimum(made / steps, 1.0));
    Tensor cosine = made.graph->constant(1.0);
    for (int k = 20; k >= 2; k -= 2) cosine = 1.0 - cosine * squared / (k * (k - 1.0));
    return to + (from - to) * square(cosine);
  };
  return {in_graph, [=](double made) {
            const double share = std::min(1.0, made / steps);
            return to + (from - to) * (1 + std::cos(std::numbers::pi * share)) / 2;
          }};
}

Schedule exponential_rate(double rate, double factor, double every) {
  const double decay = std::log(factor) / every;
  return {[=](Tensor made) { return rate * exp(made * decay); },
          [=](double made) { return rate * std::exp(made * decay); }};
}

Schedule warmed_up(double steps, Schedule after) {
  return {[=](Tensor made) { return after(made) * minimum((made + 1.0) / steps, 1.0); },
          [=](double made) { return after.at(made) * std::min((made + 1.0) / steps, 1.0); }};
}

Schedule fed_rate(Tensor rate) {
  return {[=](Tensor) { return rate; }, nullptr};
}

Tensor global_norm(const Tensors& grads) {
  CHECK(!grads.empty(), "no gradients");
  Tensor total = sum(square(grads[0]));
  for (size_t i = 1; i < grads.size(); ++i) total = total + sum(square(grads[i]));
  return sqrt(total);
}

Tensors clip_by_global_norm(const Tensors& grads, double max_norm) {
  const Tensor scale = minimum(max_norm / (global_norm(grads) + 1e-6), 1.0);
  Tensors clipped;
  for (Tensor grad : grads) clipped.push_back(grad * scale);
  return clipped;
}

Updates Sgd::operator()(std::string_view name, const Tensors& params, const Tensors& grads) const {
  check_pairs(params, grads);
  Updates updates;
  const Tensor steps = params[0].graph->variable(fmt::format("{}.steps", name), {});
  const Tensor now = rate(steps);
  updates.push_back({steps, steps + 1.0});
  for (size_t i = 0; i < params.size(); ++i) {
    Tensor direction = grads[i];
    if (weight_decay != 0) direction = direction + weight_decay * params[i];
    if (momentum != 0) {
      const Tensor velocity = state_like(name, "velocity", params[i]);
      direction = momentum * velocity + direction;
      updates.push_back({velocity, direction});
    }
    updates.push_back({params[i], params[i] - now * direction});
  }
  return updates;
}

Updates Adam::operator()(std::string_view name, const Tensors& params, const Tensors& grads) const {
  check_pairs(params, grads);
  Graph& graph = *params[0].graph;
  const Tensor steps = graph.variable(fmt::format("{}.steps", name), {});
  // 1 - beta^t by the recurrence of the moments themselves: beta^t would lose digits to the 1.
  const Tensor first_weight = graph.variable(fmt::format("{}.first_weight", name), {});
  const Tensor second_weight = graph.variable(fmt::format("{}.second_weight", name), {});
  const Tensor first_now = beta1 * first_weight + (1 - beta1);
  const Tensor second_now = beta2 * second_weight + (1 - beta2);
  const Tensor now = rate(steps);
  const Tensor step_size = now / first_now;
  const Tensor inverse_root = 1.0 / sqrt(second_now);
  Updates updates{{steps, steps + 1.0}, {first_weight, first_now}, {second_weight, second_now}};
  for (size_t i = 0; i < params.size(); ++i) {
    const Tensor first = state_like(name, "first", params[i]);
    const Tensor second = state_like(name, "second", params[i]);
    const Tensor new_first = beta1 * first + (1 - beta1) * grads[i];
    const Tensor new_second = beta2 * second + (1 - beta2) * square(grads[i]);
    Tensor kept = params[i];
    if (weight_decay != 0) kept = kept * (1.0 - weight_decay * now);
    updates.push_back({first, new_first});
    updates.push_back({second, new_second});
    updates.push_back(
        {params[i], kept - step_size * new_first / (sqrt(new_second) * inverse_root + epsilon)});
  }
  return updates;
}

}  // namespace agora::nn
