// What the simplifier finds, and that random graphs mean the same with and without it.
#include "compute/simplify.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "compute/gradients.h"
#include "compute/operations.h"
#include "compute/program.h"

namespace agora::compute {
namespace {

int64_t count_of(const Simplified& it, Op op) {
  int64_t count = 0;
  for (int32_t id = 0; id < it.graph->size(); ++id) count += it.graph->node(id).op == op ? 1 : 0;
  return count;
}

const Node& root(const Simplified& it) { return it.graph->node(it.roots[0]); }

TEST(Simplify, DropsWhatChangesNothing) {
  Graph g;
  const Tensor x = g.input("x", {kRows, 3});
  const Tensor y = (x * 1.0 + 0.0) / 1.0 - 0.0;
  const Simplified simple = simplify(g, {y.id});
  EXPECT_EQ(root(simple).op, Op::kInput);
  EXPECT_EQ(simple.graph->size(), 1);
}

TEST(Simplify, FoldsConstants) {
  Graph g;
  const Tensor x = g.input("x", {kRows, 3});
  const Simplified simple =
      simplify(g, {(x * exp(g.constant(0)) * (g.constant(2) + g.constant(3)) * 2.0).id});
  EXPECT_EQ(root(simple).op, Op::kMul);
  EXPECT_EQ(simple.graph->size(), 3);  // the input, 10, the product
}

TEST(Simplify, SoftmaxOverOneIsOne) {
  Graph g;
  const Tensor x = g.input("x", {kRows, 1, 3});
  const Simplified simple = simplify(g, {(softmax(x, 1) * 3.0).id});
  EXPECT_EQ(root(simple).op, Op::kConstant);
  EXPECT_EQ(root(simple).data, std::vector<double>{3.0});
}

TEST(Simplify, SharesCommonSubexpressions) {
  Graph g;
  const Tensor x = g.input("x", {kRows, 3});
  const Simplified simple = simplify(g, {(tanh(x * 2.0) * tanh(2.0 * x)).id});
  EXPECT_EQ(count_of(simple, Op::kTanh), 1);
}

TEST(Simplify, LeavesOutDeadNodes) {
  Graph g;
  const Tensor x = g.input("x", {kRows, 3});
  exp(x);
  EXPECT_EQ(simplify(g, {tanh(x).id}).graph->size(), 2);
}

// One bidder: the mean over bidders is the matrix itself, the mean over both that over items.
TEST(Simplify, MergesProductsWhoseInputsCoincide) {
  Graph g;
  const Tensor x = g.input("x", {kRows, 1, 4, 5});
  Tensors w;
  for (const char* name : {"own", "column", "row", "total"}) w.push_back(g.parameter(name, {5, 5}));
  const Tensor y = matmul(x, w[0]) + matmul(mean(x, {1}, Keep::kYes), w[1]) +
                   matmul(mean(x, {2}, Keep::kYes), w[2]) +
                   matmul(mean(x, {1, 2}, Keep::kYes), w[3]);
  const Simplified simple = simplify(g, {tanh(y).id});
  EXPECT_EQ(count_of(simple, Op::kMatmul), 2);
  EXPECT_EQ(count_of(simple, Op::kSum), 1);
}

// Random expressions over a few shapes, all finite: x (rows, a, b), y (rows, 1, b).
struct Random {
  Graph g;
  Tensors pool;
  Rng rng;
  Tensor loss;
  explicit Random(uint64_t seed, int64_t a = 3, int64_t b = 2) : rng(seed) {
    pool = {g.input("x", {kRows, a, b}), g.input("y", {kRows, 1, b}), g.parameter("w", {b, b}),
            g.parameter("b", {b}), g.constant(0.5)};
    for (int step = 0; step < 25; ++step) {
      try {
        grow();
      } catch (const UserError&) {  // shapes that do not fit: another try
      }
    }
    Tensor total = g.constant(0);
    for (size_t k = 5; k < pool.size(); ++k) total = total + mean(square(pool[k]));
    loss = total;
  }
  Tensor pick() { return pool[rng.below(static_cast<uint32_t>(pool.size()))]; }
  void grow() {
    const Tensor a = pick(), b = pick();
    const int64_t last = a.rank() - 1;
    const bool has_axis = last >= (a.row_local() ? 1 : 0);
    Tensor made = a;
    switch (rng.below(18)) {
      case 0:
        made = tanh(a);
        break;
      case 1:
        made = sigmoid(a) * b;
        break;
      case 2:
        made = a + b;
        break;
      case 3:
        made = a - b * 0.5;
        break;
      case 4:
        made = minimum(a, b);
        break;
      case 5:
        made = where(greater(a, b), a, b);
        break;
      case 6:
        if (has_axis) made = softmax(a, last);
        break;
      case 7:
        if (has_axis) made = mean(a, {last}, Keep::kYes);
        break;
      case 8:
        if (has_axis && a.row_local() && a.size(last) == pool[3].size(0))
          made = matmul(a, pool[2], pool[3]);
        break;
      case 9:
        if (has_axis && a.size(last) > 1) made = slice(a, last, 0, 1);
        break;
      case 10:
        if (a.row_local() && a.rank() == 3) made = transpose(transpose(a));
        break;
      case 11:
        made = -(-a) * 1.0;
        break;
      case 12:
        made = a / (square(b) + 1.0);
        break;
      case 13:
        if (a.row_local()) made = a - mean(a, {0});
        break;
      case 15:
        if (has_axis && a.row_local()) made = reflect(a, {last});
        break;
      case 16:
        if (has_axis) made = log_softmax(a, last);
        break;
      case 14:
        if (has_axis) made = concat({a, a * 2.0}, last);
        break;
      default:
        if (has_axis) made = sum(a, {last}, Keep::kYes) * a;
        break;
    }
    pool.push_back(tanh(made) + 0.0);
  }
};

std::vector<double> evaluate(uint64_t seed, const CompileOptions& options) {
  Random it(seed);
  const Tensors wrt{it.pool[0], it.pool[1], it.pool[2], it.pool[3]};
  const Tensors slopes = gradients(it.loss, wrt);
  Variables variables(it.g, Type::kFloat64);
  std::vector<Output> outputs{{"loss", it.loss}};
  for (size_t k = 0; k < wrt.size(); ++k) outputs.push_back({std::to_string(k), slopes[k]});
  Program program(it.g, variables, {outputs, {}}, options);
  Rng rng(seed, 1);
  const auto draw = [&](int64_t count) {
    std::vector<double> values(static_cast<size_t>(count));
    for (double& value : values) value = rng.uniform(-1, 1);
    return values;
  };
  program.set("x", draw(45 * 6));
  program.set("y", draw(45 * 2));
  variables.set("w", draw(4));
  variables.set("b", draw(2));
  program.run();
  std::vector<double> all;
  for (const Output& output : outputs) {
    std::vector<double> values(static_cast<size_t>(program.count(output.name)));
    program.read(output.name, std::span<double>(values));
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

// Shapes with axes of size one and single rows, in double against finite differences.
TEST(Fuzz, GradientsOfRandomGraphsAndShapesAreFiniteDifferences) {
  Rng draws(77);
  const auto draw = [&](int64_t count) {
    std::vector<double> values(static_cast<size_t>(count));
    for (double& value : values) value = draws.uniform(-1, 1);
    return values;
  };
  constexpr int64_t kSizes[] = {1, 2, 3, 5};
  for (uint64_t seed = 100; seed < 160; ++seed) {
    const int64_t a = kSizes[draws.below(4)], b = kSizes[draws.below(4)];
    const int64_t rows = seed % 3 == 0 ? 1 : 1 + draws.below(20);
    Random it(seed, a, b);
    const Tensors wrt{it.pool[0], it.pool[1], it.pool[2], it.pool[3]};
    const Tensors slopes = gradients(it.loss, wrt);
    std::vector<Output> outputs{{"loss", it.loss}};
    for (const Tensor slope : slopes) outputs.push_back({std::to_string(slope.id), slope});
    Variables variables(it.g, Type::kFloat64);
    Program program(it.g, variables, {outputs, {}}, {.rows = rows});
    std::vector<std::vector<double>> values{draw(rows * a * b), draw(rows * b), draw(b * b),
                                            draw(b)};
    const auto loss = [&] {
      program.set("x", values[0]);
      program.set("y", values[1]);
      variables.set("w", values[2]);
      variables.set("b", values[3]);
      program.run();
      return program.scalar("loss");
    };
    for (size_t k = 0; k < wrt.size(); ++k) {
      loss();
      std::vector<double> found(values[k].size());
      program.read(outputs[k + 1].name, std::span<double>(found));
      for (size_t at = 0; at < found.size(); at += 1 + found.size() / 4) {
        const double original = values[k][at], step = 1e-6;
        values[k][at] = original + step;
        const double up = loss();
        values[k][at] = original - step;
        const double down = loss();
        values[k][at] = original;
        EXPECT_NEAR(found[at], (up - down) / (2 * step), 1e-6 * (1 + std::abs(found[at])))
            << "seed " << seed << " shape (" << rows << ", " << a << ", " << b << ") argument "
            << k;
      }
    }
  }
}

TEST(Fuzz, RandomGraphsMeanTheSameHoweverTheyRun) {
  ThreadPool one(1), three(3);
  for (uint64_t seed = 0; seed < 60; ++seed) {
    std::vector<double> plain, simple, threads, wide;
    try {
      plain = evaluate(seed, {.rows = 45, .simplify = false, .cpu = {.lanes = 16, .pool = &one}});
      simple = evaluate(seed, {.rows = 45, .cpu = {.lanes = 16, .pool = &one}});
      threads = evaluate(seed, {.rows = 45, .cpu = {.lanes = 16, .pool = &three}});
      wide = evaluate(seed, {.rows = 45, .cpu = {.lanes = 64, .pool = &three}});
    } catch (const std::exception& error) {
      FAIL() << "seed " << seed << ": " << error.what();
    }
    EXPECT_EQ(simple, threads) << "seed " << seed;
    ASSERT_EQ(plain.size(), simple.size());
    for (size_t k = 0; k < plain.size(); ++k) {
      EXPECT_NEAR(plain[k], simple[k], 1e-9 * (1 + std::abs(plain[k]))) << seed << " " << k;
      EXPECT_NEAR(plain[k], wide[k], 1e-9 * (1 + std::abs(plain[k]))) << seed << " " << k;
    }
  }
}

}  // namespace
}  // namespace agora::compute
