// The examples of the table of operations, and entries that also know what comes out: values
// against plain loops, gradients against finite differences in double, float against double, few
// rows and many, threads, and every device that there is.
#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <set>

#include "compute/backend.h"
#include "compute/gradients.h"
#include "compute/operation.h"
#include "compute/operation_case.h"
#include "compute/program.h"
#include "support/emulated_gpu.h"

namespace agora::compute {
namespace {

struct Built {
  Graph graph;
  Tensors arguments;
  Tensor value, loss;
  std::vector<Output> outputs;
};

// The loss weighs every element of the value differently.
void build(const Case& it, Built& built) {
  for (size_t k = 0; k < it.arguments.size(); ++k) {
    const Argument& argument = it.arguments[k];
    const std::string name = "x" + std::to_string(k);
    if (argument.classes > 0) {
      built.arguments.push_back(built.graph.index_input(name, argument.shape));
    } else if (argument.parameter) {
      built.arguments.push_back(built.graph.parameter(name, argument.shape));
    } else {
      built.arguments.push_back(built.graph.input(name, argument.shape));
    }
  }
  built.value = it.build(built.arguments);
  Values weights(static_cast<size_t>(feature_count(built.value.shape())));
  for (size_t k = 0; k < weights.size(); ++k) weights[k] = 0.3 + std::sin(1.7 * double(k));
  const Tensor weight = built.graph.constant(weights, feature_shape(built.value.shape()));
  built.loss = sum(weight * (built.value + 0.1 * square(built.value)));
  built.outputs = {{"value", built.value}, {"loss", built.loss}};
  if (!it.differentiable) return;
  Tensors wrt;
  for (size_t k = 0; k < it.arguments.size(); ++k) {
    if (it.arguments[k].classes == 0) wrt.push_back(built.arguments[k]);
  }
  const Tensors found = gradients(built.loss, wrt);
  for (size_t k = 0; k < wrt.size(); ++k) {
    built.outputs.push_back({"d" + wrt[k].node().name, found[k]});
  }
}

std::vector<Array> draw(const Case& it, int64_t rows, uint64_t seed) {
  std::vector<Array> drawn;
  Rng rng(seed);
  for (const Argument& argument : it.arguments) {
    Array array{argument.shape, {}};
    if (is_row_local(array.shape)) array.shape[0] = rows;
    array.values.resize(static_cast<size_t>(feature_count(array.shape)));
    for (double& value : array.values) {
      value = argument.classes > 0 ? rng.below(static_cast<uint32_t>(argument.classes))
                                   : rng.uniform(argument.low, argument.high);
    }
    drawn.push_back(std::move(array));
  }
  return drawn;
}

class Trial {
 public:
  Trial(const Case& it, Type type, int64_t rows, CompileOptions options = {},
        Device device = Device::kCpu)
      : variables_((build(it, built_), built_.graph), type, rows, device),
        program_(built_.graph, variables_, {built_.outputs, {}}, with_rows(options, rows)) {}

  double loss(const std::vector<Array>& arguments) {
    for (size_t k = 0; k < arguments.size(); ++k) {
      const std::string name = "x" + std::to_string(k);
      const Node& node = built_.arguments[k].node();
      if (node.op == Op::kVariable) {
        variables_.set(name, arguments[k].values);
      } else if (node.storage == Storage::kIndex) {
        const std::vector<int32_t> indices(arguments[k].values.begin(), arguments[k].values.end());
        program_.set(name, std::span<const int32_t>(indices));
      } else {
        program_.set(name, std::span<const double>(arguments[k].values));
      }
    }
    program_.run();
    return program_.scalar("loss");
  }
  Values read(const std::string& name) {
    Values values(static_cast<size_t>(program_.count(name)));
    program_.read(name, std::span<double>(values));
    return values;
  }
  const Program& program() const { return program_; }

 private:
  static CompileOptions with_rows(CompileOptions options, int64_t rows) {
    options.rows = rows;
    return options;
  }
  Built built_;
  Variables variables_;
  Program program_;
};

void expect_near(const Values& found, const Values& expected, double tolerance,
                 const std::string& what) {
  ASSERT_EQ(found.size(), expected.size()) << what;
  for (size_t k = 0; k < found.size(); ++k) {
    EXPECT_NEAR(found[k], expected[k], tolerance * (1 + std::abs(expected[k])))
        << what << " element " << k;
  }
}

class OperationCase : public ::testing::TestWithParam<Case> {};
class OperationWithValue : public OperationCase {};
class OperationWithGradient : public OperationCase {};

TEST_P(OperationWithValue, IsAPlainLoop) {
  const Case& it = GetParam();
  for (const int64_t rows : {1, 19}) {
    std::vector<Array> arguments = draw(it, rows, 5);
    Trial run(it, Type::kFloat64, rows);
    run.loss(arguments);
    expect_near(run.read("value"), it.expected(arguments, rows), 1e-12, "value");
  }
}

TEST_P(OperationWithGradient, AgreesWithFiniteDifferences) {
  const Case& it = GetParam();
  for (const int64_t rows : {1, 18}) {
    std::vector<Array> arguments = draw(it, rows, 11);
    Trial run(it, Type::kFloat64, rows);
    run.loss(arguments);
    for (size_t k = 0; k < arguments.size(); ++k) {
      if (it.arguments[k].classes > 0) continue;
      run.loss(arguments);
      const Values gradient = run.read("dx" + std::to_string(k));
      const size_t count = arguments[k].values.size();
      ASSERT_EQ(gradient.size(), count);
      const size_t stride = std::max<size_t>(1, count / 12);
      for (size_t at = 0; at < count; at += stride) {
        double& value = arguments[k].values[at];
        const double original = value, step = 1e-5;
        value = original + step;
        const double up = run.loss(arguments);
        value = original - step;
        const double down = run.loss(arguments);
        value = original;
        EXPECT_NEAR(gradient[at], (up - down) / (2 * step), 1e-6 * (1 + std::abs(gradient[at])))
            << it.name << " argument " << k << " element " << at << " rows " << rows;
      }
    }
  }
}

std::vector<std::string> output_names(const Case& it) {
  std::vector<std::string> names{"value", "loss"};
  for (size_t k = 0; k < it.arguments.size() && it.differentiable; ++k) {
    if (it.arguments[k].classes == 0) names.push_back("dx" + std::to_string(k));
  }
  return names;
}

TEST_P(OperationCase, AllTypesTilesAndThreadsAgree) {
  const Case& it = GetParam();
  const int64_t rows = 70;
  const std::vector<Array> arguments = draw(it, rows, 3);
  Trial reference(it, Type::kFloat64, rows, {.simplify = false, .cpu = {.lanes = 64}});
  reference.loss(arguments);
  ThreadPool three(3), one(1);
  Trial narrow(it, Type::kFloat32, rows, {.cpu = {.lanes = 16, .parts = 3, .pool = &three}});
  Trial alone(it, Type::kFloat32, rows, {.cpu = {.lanes = 16, .parts = 3, .pool = &one}});
  Trial wide(it, Type::kFloat64, rows, {.cpu = {.lanes = 32}});
  narrow.loss(arguments);
  alone.loss(arguments);
  wide.loss(arguments);
  for (const std::string& name : output_names(it)) {
    const Values expected = reference.read(name);
    expect_near(wide.read(name), expected, 1e-10, name);
    expect_near(narrow.read(name), expected, 2e-4, name + " in float");
    EXPECT_EQ(narrow.read(name), alone.read(name)) << name << " with 3 threads and with 1";
  }
}

// On the host where there is no GPU.
TEST_P(OperationCase, KernelsOfAGpuAgree) {
  const Case& it = GetParam();
  const int64_t rows = 70;
  const std::vector<Array> arguments = draw(it, rows, 3);
  Trial reference(it, Type::kFloat64, rows, {.simplify = false});
  reference.loss(arguments);
  std::optional<InsteadOfCuda> emulated;
  if (!cuda_available()) emulated.emplace(EmulatedGpu::backend());
  for (const auto& [type, tolerance] : {std::pair{Type::kFloat32, 1e-5}, {Type::kFloat64, 1e-12}}) {
    if (emulated && type == Type::kFloat64) continue;  // the same text, and compiling takes a while
    Trial there(it, type, rows, {}, Device::kCuda);
    there.loss(arguments);
    for (const std::string& name : output_names(it)) {
      expect_near(there.read(name), reference.read(name), tolerance, name + " on the GPU");
    }
  }
}

// --- The entries ---------------------------------------------------------------------------

const Shape kBatch{kRows, 3, 2};

// The examples of the table: what comes out is not known, but that it agrees with itself.
std::vector<Case> table_cases() {
  std::vector<Case> all;
  for (const Operation& operation : operations()) {
    for (size_t k = 0; k < operation.examples.size(); ++k) {
      const Example& example = operation.examples[k];
      Case it;
      it.name = std::string(operation.name) + "_example_" + std::to_string(k);
      std::replace(it.name.begin(), it.name.end(), ' ', '_');
      for (const Example::Input& input : example.inputs) {
        const bool shared = !is_row_local(input.shape);
        it.arguments.push_back({input.shape, input.low, input.high, shared, input.classes});
      }
      it.build = [&operation, &example](const Tensors& inputs) {
        return record(operation.op, inputs, example.ints, example.told);
      };
      it.differentiable = operation.gradient != nullptr;
      all.push_back(std::move(it));
    }
  }
  return all;
}

Case unary(const char* name, Tensor (*operation)(Tensor), double (*expected)(double),
           double low = -2, double high = 2) {
  return {name,
          {{kBatch, low, high}},
          [operation](const Tensors& x) { return operation(x[0]); },
          [expected](std::vector<Array>& x, int64_t) {
            Values values;
            for (const double value : x[0].values) values.push_back(expected(value));
            return values;
          }};
}

// (rows, 3, 2) with (rows, 1, 2), and with a shared (3, 1).
Case binary(const char* name, Tensor (*operation)(Tensor, Tensor),
            double (*expected)(double, double), bool differentiable = true) {
  return {
      name,
      {{kBatch, -2, 2}, {{kRows, 1, 2}, 0.5, 2}, {{3, 1}, 0.5, 2, true}},
      [operation](const Tensors& x) { return operation(operation(x[0], x[1]), x[2]); },
      [expected](std::vector<Array>& x, int64_t rows) {
        Values values;
        for (int64_t r = 0; r < rows; ++r) {
          for (int64_t i = 0; i < 3; ++i) {
            for (int64_t j = 0; j < 2; ++j) {
              values.push_back(expected(expected(x[0]({r, i, j}), x[1]({r, 0, j})), x[2]({i, 0})));
            }
          }
        }
        return values;
      },
      differentiable};
}

double softmax_value(Array& x, int64_t r, int64_t i, int64_t j) {  // along axis 1 of (rows, 3, 2)
  double total = 0;
  for (int64_t k = 0; k < 3; ++k) total += std::exp(x({r, k, j}));
  return std::exp(x({r, i, j})) / total;
}

std::vector<Case> cases() {
  std::vector<Case> all;
  all.push_back(unary(
      "neg", [](Tensor x) { return -x; }, [](double x) { return -x; }));
  all.push_back(unary("exp", exp, [](double x) { return std::exp(x); }));
  all.push_back(unary(
      "log", log, [](double x) { return std::log(x); }, .2, 3));
  all.push_back(unary(
      "sqrt", sqrt, [](double x) { return std::sqrt(x); }, .2, 3));
  all.push_back(unary("square", square, [](double x) { return x * x; }));
  all.push_back(unary("abs", abs, [](double x) { return std::abs(x); }));
  all.push_back(unary("tanh", tanh, [](double x) { return std::tanh(x); }));
  all.push_back(unary("sigmoid", sigmoid, [](double x) { return 1 / (1 + std::exp(-x)); }));
  all.push_back(unary("softplus", softplus, [](double x) { return std::log1p(std::exp(x)); }));
  all.push_back(unary("relu", relu, [](double x) { return std::max(x, 0.0); }));
  all.push_back(unary(
      "clip", [](Tensor x) { return clip(x, -.5, .7); },
      [](double x) { return std::clamp(x, -.5, .7); }));
  all.push_back(binary(
      "add", [](Tensor a, Tensor b) { return a + b; }, [](double a, double b) { return a + b; }));
  all.push_back(binary(
      "sub", [](Tensor a, Tensor b) { return a - b; }, [](double a, double b) { return a - b; }));
  all.push_back(binary(
      "mul", [](Tensor a, Tensor b) { return a * b; }, [](double a, double b) { return a * b; }));
  all.push_back(binary(
      "div", [](Tensor a, Tensor b) { return a / b; }, [](double a, double b) { return a / b; }));
  all.push_back(binary("minimum", minimum, [](double a, double b) { return std::min(a, b); }));
  all.push_back(binary("maximum", maximum, [](double a, double b) { return std::max(a, b); }));
  all.push_back(binary(
      "greater", greater, [](double a, double b) { return double(a > b); }, false));
  all.push_back(binary(
      "greater_equal", greater_equal, [](double a, double b) { return double(a >= b); }, false));
  all.push_back(binary(
      "equal", equal, [](double a, double b) { return double(a == b); }, false));
  all.push_back({"where",
                 {{kBatch, -2, 2}, {{kRows, 3, 1}, -2, 2}, {{2}, -2, 2, true}},
                 [](const Tensors& x) {
                   return where(greater(x[0], x[0].graph->constant(0.3)), x[1], square(x[2]));
                 },
                 each({3, 2}, [](Arrays x, int64_t r, At i) {
                   const double other = x[2]({i[1]});
                   return x[0]({r, i[0], i[1]}) > .3 ? x[1]({r, i[0], 0}) : other * other;
                 })});
  all.push_back(
      {"softmax",
       {{kBatch, -2, 2}},
       [](const Tensors& x) { return softmax(x[0], 1); },
       each({3, 2}, [](Arrays x, int64_t r, At i) { return softmax_value(x[0], r, i[0], i[1]); })});
  all.push_back({"log_softmax",
                 {{kBatch, -2, 2}},
                 [](const Tensors& x) { return log_softmax(x[0], 1); },
                 each({3, 2}, [](Arrays x, int64_t r, At i) {
                   return std::log(softmax_value(x[0], r, i[0], i[1]));
                 })});
  all.push_back({"softmax_of_one",
                 {{{kRows, 1, 2}, -2, 2}},
                 [](const Tensors& x) { return softmax(x[0], 1); },
                 each({1, 2}, [](Arrays, int64_t, At) { return 1.0; })});
  all.push_back({"sum_kept",
                 {{kBatch}},
                 [](const Tensors& x) { return sum(x[0], {1}, Keep::kYes); },
                 each({1, 2}, [](Arrays x, int64_t r, At i) {
                   return x[0]({r, 0, i[1]}) + x[0]({r, 1, i[1]}) + x[0]({r, 2, i[1]});
                 })});
  all.push_back({"sum_rows",
                 {{kBatch}},
                 [](const Tensors& x) {
                   return sum(x[0], {0, 1});
                 },
                 [](Arrays x, int64_t rows) {
                   Values total(2);
                   for (int64_t r = 0; r < rows; ++r) {
                     for (int64_t i = 0; i < 3; ++i) {
                       for (int64_t j = 0; j < 2; ++j) total[size_t(j)] += x[0]({r, i, j});
                     }
                   }
                   return total;
                 }});
  all.push_back({"mean",
                 {{kBatch}},
                 [](const Tensors& x) { return mean(x[0]); },
                 [](Arrays x, int64_t) {
                   double total = 0;
                   for (const double value : x[0].values) total += value;
                   return Values{total / double(x[0].values.size())};
                 }});
  all.push_back({"mean_dropped",
                 {{kBatch}},
                 [](const Tensors& x) { return mean(x[0], {-1}); },
                 each({3}, [](Arrays x, int64_t r, At i) {
                   return (x[0]({r, i[0], 0}) + x[0]({r, i[0], 1})) / 2;
                 })});
  all.push_back({"max",
                 {{kBatch, -2, 2}},
                 [](const Tensors& x) {
                   return max(x[0], {1, 2});
                 },
                 each({1}, [](Arrays x, int64_t r, At) {
                   double top = -9;
                   for (int64_t i = 0; i < 6; ++i) top = std::max(top, x[0]({r, i / 2, i % 2}));
                   return top;
                 })});
  all.push_back({"shared_reductions",
                 {{{3, 4}, -2, 2, true}},
                 [](const Tensors& x) { return sum(x[0], {0}) * max(x[0], {1}, Keep::kYes); },
                 nullptr});
  all.push_back({"broadcast",
                 {{{kRows, 1, 2}}, {{2}, -1, 1, true}},
                 [](const Tensors& x) { return broadcast(x[0], kBatch) * broadcast(x[1], kBatch); },
                 each({3, 2}, [](Arrays x, int64_t r, At i) {
                   return x[0]({r, 0, i[1]}) * x[1]({i[1]});
                 })});
  all.push_back({"transpose_reshape",
                 {{kBatch}},
                 [](const Tensors& x) {
                   return reshape(transpose(x[0]), {kRows, 6});
                 },
                 each({6}, [](Arrays x, int64_t r, At i) {
                   return x[0]({r, i[0] % 3, i[0] / 3});
                 })});
  all.push_back({"flatten",
                 {{kBatch}},
                 [](const Tensors& x) { return flatten(x[0]); },
                 [](Arrays x, int64_t) { return x[0].values; }});
  all.push_back({"slice",
                 {{kBatch}},
                 [](const Tensors& x) { return slice(x[0], 1, 1, 3); },
                 each({2, 2}, [](Arrays x, int64_t r, At i) {
                   return x[0]({r, i[0] + 1, i[1]});
                 })});
  all.push_back({"concat",
                 {{kBatch}, {{kRows, 3, 1}}, {{3, 1}, -1, 1, true}},
                 [](const Tensors& x) {
                   return concat({x[0], x[1], x[2]}, 2);
                 },
                 each({3, 4}, [](Arrays x, int64_t r, At i) {
                   if (i[1] < 2) return x[0]({r, i[0], i[1]});
                   return i[1] == 2 ? x[1]({r, i[0], 0}) : x[2]({i[0], 0});
                 })});
  all.push_back({"stack",
                 {{{kRows, 2}}, {{kRows, 2}}},
                 [](const Tensors& x) {
                   return stack({x[0], x[1]}, 1);
                 },
                 each({2, 2}, [](Arrays x, int64_t r, At i) {
                   return x[size_t(i[0])]({r, i[1]});
                 })});
  all.push_back({"pad",
                 {{kBatch}},
                 [](const Tensors& x) { return pad(x[0], 1, 1, 2); },
                 each({6, 2}, [](Arrays x, int64_t r, At i) {
                   return i[0] < 1 || i[0] > 3 ? 0.0 : x[0]({r, i[0] - 1, i[1]});
                 })});
  all.push_back({"gather",
                 {{{5, 2}, -1, 1, true}, {{kRows, 3}, 0, 0, false, 5}},
                 [](const Tensors& x) { return gather(x[0], x[1]); },
                 each({3, 2}, [](Arrays x, int64_t r, At i) {
                   return x[0]({int64_t(x[1]({r, i[0]})), i[1]});
                 })});
  all.push_back(
      {"one_hot",
       {{{kRows}, 0, 0, false, 4}},
       [](const Tensors& x) { return one_hot(x[0], 4); },
       each({4}, [](Arrays x, int64_t r, At i) { return double(x[0]({r}) == double(i[0])); }),
       false});
  all.push_back({"categorical_log_prob",
                 {{{kRows, 3}, -2, 2}, {{kRows}, 0, 0, false, 3}},
                 [](const Tensors& x) { return categorical_log_prob(x[0], x[1]); },
                 each({1}, [](Arrays x, int64_t r, At) {
                   double total = 0;
                   for (int64_t k = 0; k < 3; ++k) total += std::exp(x[0]({r, k}));
                   return x[0]({r, int64_t(x[1]({r}))}) - std::log(total);
                 })});
  all.push_back({"categorical_entropy",
                 {{{kRows, 3}, -2, 2}},
                 [](const Tensors& x) { return categorical_entropy(x[0]); },
                 each({1}, [](Arrays x, int64_t r, At) {
                   double total = 0, entropy = 0;
                   for (int64_t k = 0; k < 3; ++k) total += std::exp(x[0]({r, k}));
                   for (int64_t k = 0; k < 3; ++k) {
                     const double p = std::exp(x[0]({r, k})) / total;
                     entropy -= p * std::log(p);
                   }
                   return entropy;
                 })});
  all.push_back({"categorical_kl",
                 {{{kRows, 3}, -2, 2}, {{kRows, 3}, -2, 2}},
                 [](const Tensors& x) { return categorical_kl(x[0], x[1]); },
                 each({1}, [](Arrays x, int64_t r, At) {
                   double total[2] = {0, 0}, kl = 0;
                   for (int64_t k = 0; k < 3; ++k) {
                     total[0] += std::exp(x[0]({r, k}));
                     total[1] += std::exp(x[1]({r, k}));
                   }
                   for (int64_t k = 0; k < 3; ++k) {
                     const double p = std::exp(x[0]({r, k})) / total[0];
                     kl += p * (std::log(p) - x[1]({r, k}) + std::log(total[1]));
                   }
                   return kl;
                 })});
  all.push_back({"gradient_of_a_gradient",
                 {{{kRows, 3}}, {{3, 2}, -1, 1, true}},
                 [](const Tensors& x) {
                   const Tensor y = sum(square(tanh(matmul(x[0], x[1]))));
                   return gradients(y, {x[1]})[0] + sum(gradients(y, {x[0]})[0]);
                 },
                 nullptr});
  for (Case& it : product_cases()) all.push_back(std::move(it));
  return all;
}

std::vector<Case> all_cases() {
  std::vector<Case> all = cases();
  for (Case& it : table_cases()) all.push_back(std::move(it));
  return all;
}

TEST(OperationTable, HasEveryOperationOnce) {
  std::set<std::string> names;
  for (const Operation& it : operations()) {
    EXPECT_TRUE(names.insert(it.name).second) << it.name;
    EXPECT_EQ(operation(it.op).name, it.name);
    EXPECT_NE(it.shape, nullptr) << it.name;
    EXPECT_FALSE(it.constant && it.gradient != nullptr) << it.name;
    EXPECT_EQ(it.examples.empty(), it.family == Family::kSource) << it.name;
    for (const Example& example : it.examples) EXPECT_FALSE(example.inputs.empty()) << it.name;
  }
  EXPECT_EQ(operations().back().op, Op::kPoolGradient) << "the last of them";
}

// Some plain loop says what each operation gives, in a value or in a gradient.
TEST(OperationTable, EveryValueIsKnown) {
  std::set<Op> known;
  for (const Case& it : cases()) {
    if (!it.expected) continue;
    Built built;
    build(it, built);
    for (int32_t id = 0; id < built.graph.size(); ++id) known.insert(built.graph.node(id).op);
  }
  for (const Operation& it : operations()) {
    if (it.family == Family::kSource || it.op == Op::kStopGradient) continue;
    EXPECT_TRUE(known.contains(it.op)) << it.name;
  }
}

TEST(OperationTable, CostsAreThoseOfProducts) {
  const auto flops = [](Op op, std::vector<Shape> inputs, const Shape& output) {
    return operation(op).flops(inputs, output);
  };
  EXPECT_EQ(flops(Op::kMatmul, {{3, 5}, {5, 4}}, {3, 4}), 2 * 3 * 5 * 4);
  EXPECT_EQ(flops(Op::kOuter, {{3, 5}, {3, 4}}, {5, 4}), 2 * 3 * 5 * 4);
  EXPECT_EQ(flops(Op::kBlockMatmul, {{2, 3, 5}}, {2, 3, 4}), 2 * 2 * 3 * 5 * 4);
  EXPECT_EQ(flops(Op::kConv, {{6, 7, 3}, {3, 3, 3, 2}}, {6, 7, 2}), 2 * 6 * 7 * 9 * 3 * 2);
  EXPECT_EQ(flops(Op::kConvInput, {{6, 7, 2}, {3, 3, 3, 2}}, {6, 7, 3}), 2 * 6 * 7 * 9 * 3 * 2);
  EXPECT_EQ(flops(Op::kConvWeight, {{6, 7, 3}, {6, 7, 2}}, {3, 3, 3, 2}), 2 * 6 * 7 * 9 * 3 * 2);
}

template <typename Chosen>
std::vector<Case> cases_that(Chosen&& chosen) {
  std::vector<Case> some = all_cases();
  std::erase_if(some, [&](const Case& it) { return !chosen(it); });
  return some;
}
const auto kName = [](const auto& entry) { return entry.param.name; };

INSTANTIATE_TEST_SUITE_P(All, OperationCase, ::testing::ValuesIn(all_cases()), kName);
INSTANTIATE_TEST_SUITE_P(All, OperationWithValue,
                         ::testing::ValuesIn(cases_that([](const Case& it) {
                           return static_cast<bool>(it.expected);
                         })),
                         kName);
INSTANTIATE_TEST_SUITE_P(
    All, OperationWithGradient,
    ::testing::ValuesIn(cases_that([](const Case& it) { return it.differentiable; })), kName);

}  // namespace
}  // namespace agora::compute
