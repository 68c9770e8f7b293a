// The seam of devices: memory, bound arrays, plans for other kernels, what is looked at and when.
#include "compute/backend.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "compute/gradients.h"
#include "compute/operations.h"
#include "compute/program.h"
#include "support/scratch.h"

namespace agora::compute {
namespace {

TEST(Devices, AreKnownByName) {
  for (const Device device : {Device::kCpu, Device::kCuda}) {
    EXPECT_EQ(device_named(device_name(device)), device);
  }
  expect_user_error([] { device_named("cud"); }, {"did you mean 'cuda'?"});
}

TEST(Devices, ThatCannotBeUsedSayWhy) {
  if (cuda_available()) GTEST_SKIP() << "there is a GPU";
  expect_user_error([] { set_default_device(Device::kCuda); }, {cuda_description()});
  EXPECT_EQ(default_device(), Device::kCpu);
  Graph g;
  g.parameter("w", {2});
  expect_user_error([&] { Variables(g, Type::kFloat32, 0, Device::kCuda); }, {cuda_description()});
}

TEST(DeviceArrays, ConvertAndCopy) {
  const std::vector<double> values{1.0, -2.5, 1.0 / 3};
  for (const Type type : {Type::kFloat32, Type::kFloat64}) {
    DeviceArray array(3, type), other(3, type);
    array.set(std::span<const double>(values));
    other.copy(array);
    std::vector<double> wide(3);
    std::vector<float> narrow(3);
    other.read(std::span<double>(wide));
    other.read(std::span<float>(narrow));
    for (size_t k = 0; k < 3; ++k) {
      EXPECT_EQ(narrow[k], static_cast<float>(values[k]));
      EXPECT_EQ(wide[k], type == Type::kFloat32 ? static_cast<float>(values[k]) : values[k]);
    }
  }
}

// x -> 2 x in one program, sum over a table and rows of it in the next.
TEST(Programs, HandArraysToEachOther) {
  Graph g;
  const Tensor x = g.input("x", {kRows, 2});
  const Tensor table = g.input("table", {3, 2});
  const Tensor y = g.input("y", {kRows, 2});
  Variables variables(g);
  Program twice(g, variables, {{{"twice", 2.0 * x}}, {}}, {.rows = 3});
  Program both(g, variables, {{{"both", y + sum(table, {0})}}, {}}, {.rows = 3});
  DeviceArray from(6), between(6);
  twice.bind("x", from);
  twice.bind("twice", between);
  both.bind("table", between);
  both.bind("y", between);
  for (const float scale : {1.0f, 10.0f}) {  // what is bound is looked at in every run
    std::vector<float> values;
    for (int k = 0; k < 6; ++k) values.push_back(scale * static_cast<float>(k));
    from.set(std::span<const float>(values));
    twice.run();
    both.run();
    std::vector<float> found(6);
    both.read("both", std::span<float>(found));
    for (int k = 0; k < 6; ++k) {
      const float column = 2 * scale * static_cast<float>(k % 2 == 0 ? 0 + 2 + 4 : 1 + 3 + 5);
      EXPECT_EQ(found[static_cast<size_t>(k)], 2 * scale * static_cast<float>(k) + column);
    }
  }
}

TEST(Programs, LookAtScalarsOnlyWhenAsked) {
  Graph g;
  const Tensor w = g.variable("w", {}, filled(1.0));
  const Tensor x = g.input("x", {});
  Variables variables(g);
  variables.initialize(1);
  Program step(g, variables, {{{"loss", log(x)}}, {{w, w + log(x)}}}, {.rows = 1});
  step.set("x", -1.0);
  EXPECT_THROW(step.run(), NotFinite);
  EXPECT_EQ(variables.get("w")[0], 1.0);
  step.run(Check::kNothing);
  EXPECT_TRUE(std::isnan(step.scalar("loss")));
  EXPECT_TRUE(std::isnan(variables.get("w")[0]));
}

TEST(Snapshots, BringVariablesBack) {
  Graph g;
  const Tensor a = g.variable("a", {2}, filled(1.0)), b = g.variable("b", {2}, filled(5.0));
  Variables variables(g);
  variables.initialize(1);
  Program step(g, variables, {{}, {{a, a + 1.0}, {b, b + 1.0}}}, {.rows = 1});
  Snapshot kept(variables, {"a"});
  step.run();
  kept.take();
  step.run();
  step.run();
  kept.restore();
  EXPECT_EQ(variables.get("a"), (std::vector<double>{2, 2}));
  EXPECT_EQ(variables.get("b"), (std::vector<double>{8, 8}));
  step.run();
  EXPECT_EQ(variables.get("a"), (std::vector<double>{3, 3}));
}

// An exchangeable layer and its gradient, with every fusion that there is.
struct Layer {
  Layer() {
    const Tensor x = g.input("x", {kRows, 2, 3, 4});
    const Tensor w = g.parameter("w", {4, 4}), b = g.parameter("b", {4});
    const Tensor hidden = tanh(reflect(matmul(reflect(x, {1, 2}), w) + b, {1, 2}));
    const Tensor out = sigmoid(matmul(reflect(hidden, {1, 2}), w) + x);
    loss = mean(sum(square(out) * out + out, {1, 2, 3}));
    slopes = gradients(loss, {w, b});
  }
  PlanRequest request(const PlanLimits& limits) const {
    return {.outputs = {{"loss", loss.id}, {"dw", slopes[0].id}, {"db", slopes[1].id}},
            .limits = limits};
  }
  Graph g;
  Tensor loss;
  Tensors slopes;
};

int64_t longest_group(const std::vector<Step>& steps) {
  int64_t longest = 0;
  for (const Step& step : steps) longest = std::max(longest, std::ssize(step.code));
  return longest;
}

TEST(Plans, KeepTheLimitsOfADevice) {
  const Layer layer;
  PlanLimits limits = cpu_backend().limits;
  const auto fused = [&] {
    std::pair<bool, bool> found;
    for (const Phase& phase : make_plan(layer.g, layer.request(limits)).phases) {
      for (const Step& step : phase.rows) {
        found.first |=
            step.op == Op::kReflect && (step.activation == Op::kTanh || step.outputs.size() > 1);
        found.second |= step.op == Op::kMatmul && (step.bias || step.accumulate);
      }
    }
    return found;
  };
  EXPECT_EQ(fused(), std::pair(true, true));
  limits.fuses_reflections = false;
  EXPECT_EQ(fused(), std::pair(false, true));
  limits.fuses_epilogues = false;
  EXPECT_EQ(fused(), std::pair(false, false));
  for (const int64_t most : {1, 2, 48}) {
    limits.group_instructions = most;
    int64_t longest = 0;
    for (const Phase& phase : make_plan(layer.g, layer.request(limits)).phases) {
      longest = std::max({longest, longest_group(phase.rows), longest_group(phase.shared)});
    }
    EXPECT_LE(longest, most);
    EXPECT_GE(longest, std::min<int64_t>(most, 3));
  }
  limits.alignment = 64;
  const Plan plan = make_plan(layer.g, layer.request(limits));
  for (const Buffer& buffer : plan.buffers) {
    EXPECT_TRUE(buffer.space != Space::kShared || buffer.offset % 64 == 0);
  }
}

// What a device joins in one step does not change what is computed.
TEST(Plans, OfOtherDevicesComputeTheSame) {
  const Layer layer;
  const auto run = [&](const PlanLimits& limits) {
    Variables variables(layer.g, Type::kFloat64);
    std::vector<double> w(16), x(7 * 24), result;
    for (size_t k = 0; k < w.size(); ++k) w[k] = std::sin(1.3 * static_cast<double>(k));
    for (size_t k = 0; k < x.size(); ++k) x[k] = std::cos(0.7 * static_cast<double>(k));
    variables.set("w", std::span<const double>(w));
    const Plan plan = make_plan(layer.g, layer.request(limits));
    const auto executor = cpu_backend().make_executor(plan, variables, {.rows = 7});
    executor->set(0, std::span<const double>(x));
    executor->run(7);
    for (size_t k = 0; k < 3; ++k) {
      std::vector<double> values(k == 0 ? 1 : k == 1 ? 16 : 4);
      executor->read(k, std::span<double>(values));
      result.insert(result.end(), values.begin(), values.end());
    }
    return result;
  };
  PlanLimits limits = cpu_backend().limits;
  const std::vector<double> expected = run(limits);
  limits.fuses_reflections = limits.fuses_epilogues = false;
  limits.group_instructions = 1;
  const std::vector<double> found = run(limits);
  for (size_t k = 0; k < expected.size(); ++k) {
    EXPECT_NEAR(found[k], expected[k], 1e-12 * (1 + std::abs(expected[k]))) << k;
  }
}

}  // namespace
}  // namespace agora::compute
