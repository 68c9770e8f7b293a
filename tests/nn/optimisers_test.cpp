#include "nn/optimisers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "compute/gradients.h"
#include "nn/categorical.h"
#include "nn/initialisers.h"
#include "nn/layers.h"

namespace agora::nn {
namespace {

using compute::kRows;

// Values of a schedule at the given steps.
std::vector<double> rates(const Schedule& schedule, const std::vector<double>& at) {
  Graph graph;
  const Tensor steps = graph.input("steps", {});
  const Tensor rate = schedule(steps);
  compute::Variables variables(graph, compute::Type::kFloat64);
  compute::Program program(graph, variables, {.outputs = {{"rate", rate}}, .updates = {}},
                           {.rows = 1});
  std::vector<double> values;
  for (double step : at) {
    program.set("steps", step);
    program.run();
    values.push_back(program.scalar("rate"));
  }
  return values;
}

TEST(Schedules, FollowTheirFormulas) {
  const auto linear = rates(linear_rate(1.0, 0.2, 10), {0, 5, 10, 50});
  EXPECT_NEAR(linear[0], 1.0, 1e-12);
  EXPECT_NEAR(linear[1], 0.6, 1e-12);
  EXPECT_NEAR(linear[2], 0.2, 1e-12);
  EXPECT_NEAR(linear[3], 0.2, 1e-12);
  const auto cosine = rates(cosine_rate(1.0, 0.2, 10), {0, 2.5, 5, 7, 10, 50});
  EXPECT_NEAR(cosine[0], 1.0, 1e-12);
  EXPECT_NEAR(cosine[1], 0.6 + 0.4 * std::sqrt(0.5), 1e-12);
  EXPECT_NEAR(cosine[2], 0.6, 1e-12);
  EXPECT_NEAR(cosine[3], 0.6 + 0.4 * std::cos(2.1991148575128552), 1e-12);  // .7 pi
  EXPECT_NEAR(cosine[4], 0.2, 1e-12);
  EXPECT_NEAR(cosine[5], 0.2, 1e-12);
  const auto exponential = rates(exponential_rate(0.5, 0.1, 100), {0, 100, 200});
  EXPECT_NEAR(exponential[1], 0.05, 1e-12);
  EXPECT_NEAR(exponential[2], 0.005, 1e-12);
  const auto warm = rates(warmed_up(4, constant_rate(0.8)), {0, 1, 3, 9});
  EXPECT_NEAR(warm[0], 0.2, 1e-12);
  EXPECT_NEAR(warm[1], 0.4, 1e-12);
  EXPECT_NEAR(warm[2], 0.8, 1e-12);
  EXPECT_NEAR(warm[3], 0.8, 1e-12);
}

TEST(Schedules, AreTheSameOnTheHostAndInAGraph) {
  const Schedule schedules[] = {constant_rate(0.3), linear_rate(1.0, 0.2, 10),
                                cosine_rate(0.2, 1e-3, 10), exponential_rate(0.5, 0.1, 100),
                                warmed_up(4, cosine_rate(0.2, 1e-3, 10))};
  const std::vector<double> at{0, 1, 2.5, 5, 9, 10, 11, 50};
  for (const Schedule& schedule : schedules) {
    const std::vector<double> in_graph = rates(schedule, at);
    for (size_t i = 0; i < at.size(); ++i) EXPECT_NEAR(schedule.at(at[i]), in_graph[i], 1e-14);
  }
}

// Adam on x^2 / 2 from 1, against the algorithm written out.
TEST(Optimisers, AdamFollowsKingmaAndBa) {
  Graph graph;
  const Tensor x = graph.parameter("x", {1}, filled(1.0));
  const Tensor loss = sum(square(x)) * 0.5;
  const Updates updates = Adam{.rate = constant_rate(0.1), .weight_decay = 0.05}(
      "adam", {x}, compute::gradients(loss, {x}));
  compute::Variables variables(graph, compute::Type::kFloat64);
  variables.initialize(1);
  compute::Program step(graph, variables, {.outputs = {}, .updates = updates}, {.rows = 1});
  double expected = 1, first = 0, second = 0;
  for (int t = 1; t <= 20; ++t) {
    step.run();
    first = 0.9 * first + 0.1 * expected;
    second = 0.999 * second + 0.001 * expected * expected;
    expected =
        expected * (1 - 0.1 * 0.05) - 0.1 * (first / (1 - std::pow(0.9, t))) /
                                          (std::sqrt(second / (1 - std::pow(0.999, t))) + 1e-8);
    ASSERT_NEAR(variables.get("x")[0], expected, 1e-12) << t;
  }
  EXPECT_EQ(variables.get("adam.steps")[0], 20);
}

// The same for momentum, as in PyTorch: v = .9 v + g + decay x, x = x - rate v.
TEST(Optimisers, SgdKeepsItsVelocity) {
  Graph graph;
  const Tensor x = graph.parameter("x", {1}, filled(1.0));
  const Tensor loss = sum(square(x)) * 0.5;
  const Updates updates = Sgd{.rate = constant_rate(0.1), .momentum = 0.9, .weight_decay = 0.05}(
      "sgd", {x}, compute::gradients(loss, {x}));
  compute::Variables variables(graph, compute::Type::kFloat64);
  variables.initialize(1);
  compute::Program step(graph, variables, {.outputs = {}, .updates = updates}, {.rows = 1});
  double expected = 1, velocity = 0;
  for (int t = 1; t <= 20; ++t) {
    step.run();
    velocity = 0.9 * velocity + expected + 0.05 * expected;
    expected -= 0.1 * velocity;
    ASSERT_NEAR(variables.get("x")[0], expected, 1e-12) << t;
  }
}

TEST(Optimisers, ClippingKeepsShortGradientsAndShortensLongOnes) {
  for (double length : {0.5, 5.0}) {
    Graph graph;
    const Tensor a = graph.parameter("a", {2}, filled(0.0)),
                 b = graph.parameter("b", {}, filled(0.0));
    const Tensor loss = sum(a) * (0.6 / std::sqrt(2.0) * length) + b * (0.8 * length);
    const Tensors clipped = clip_by_global_norm(compute::gradients(loss, {a, b}), 1.0);
    compute::Variables variables(graph, compute::Type::kFloat64);
    compute::Program program(graph, variables,
                             {.outputs = {{"norm", global_norm(clipped)}}, .updates = {}},
                             {.rows = 1});
    program.run();
    EXPECT_NEAR(program.scalar("norm"), std::min(length, 1.0), 1e-6);
  }
}

TEST(Optimisers, AWholeTrainingStepIsOneProgram) {
  Graph graph;
  const Tensor x = graph.input("x", {kRows, 2}), target = graph.input("target", {kRows, 1});
  const Mlp mlp(graph, "mlp", {2, 16, 1});
  const Tensor loss = mean(square(mlp(x) - target));
  const Tensors params = graph.parameters();
  const Updates updates = Adam{.rate = constant_rate(1e-2)}(
      "adam", params, clip_by_global_norm(compute::gradients(loss, params), 1.0));
  compute::Variables variables(graph);
  variables.initialize(2);
  compute::Program step(graph, variables, {.outputs = {{"loss", loss}}, .updates = updates},
                        {.rows = 64});
  std::vector<float> inputs(128), targets(64);
  Rng rng(1);
  for (float& value : inputs) value = static_cast<float>(rng.uniform(-1, 1));
  for (int i = 0; i < 64; ++i) targets[i] = inputs[2 * i] * inputs[2 * i + 1];
  step.set("x", std::span<const float>(inputs));
  step.set("target", std::span<const float>(targets));
  step.run();
  const double before = step.scalar("loss");
  for (int i = 0; i < 500; ++i) step.run();
  EXPECT_LT(step.scalar("loss"), 0.05 * before);
}

TEST(Categorical, DrawsWithTheProbabilitiesOfItsLogits) {
  const std::vector<float> logits{0.0f, std::log(2.0f), -INFINITY, std::log(5.0f)};
  std::vector<int> counts(4);
  const int draws = 80'000;
  for (int i = 0; i < draws; ++i) {
    Rng rng(3, 0, 0, static_cast<uint32_t>(i));
    ++counts[static_cast<size_t>(sample_categorical(logits, rng))];
  }
  EXPECT_NEAR(counts[0] / double{draws}, 1.0 / 8, 0.005);
  EXPECT_NEAR(counts[1] / double{draws}, 2.0 / 8, 0.007);
  EXPECT_EQ(counts[2], 0);
  EXPECT_NEAR(counts[3] / double{draws}, 5.0 / 8, 0.007);
  EXPECT_EQ(most_likely(logits), 3);
}

}  // namespace
}  // namespace agora::nn
