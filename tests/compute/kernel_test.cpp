// Programs as generated kernels, on a thread of the host: phases, loops, memory of both kinds,
// several runs in one start, faults.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "compute/gradients.h"
#include "compute/kernel/schedule.h"
#include "compute/operations.h"
#include "compute/program.h"
#include "support/emulated_gpu.h"

namespace agora::compute {
namespace {

std::vector<double> drawn(int64_t count, uint32_t stream) {
  std::vector<double> values(static_cast<size_t>(count));
  Rng rng(9, stream);
  for (double& value : values) value = rng.uniform(-1, 1);
  return values;
}

// A network of two layers whose loss needs sums of one phase in the next, with momentum.
struct Learner {
  explicit Learner(Device device, int64_t rows = 37)
      : variables(build(), Type::kFloat64, 0, device) {
    variables.initialize(4);
    program.emplace(graph, variables, Computation{.outputs = {{"loss", loss}}, .updates = updates},
                    CompileOptions{.rows = rows});
    program->set("x", std::span<const double>(drawn(rows * 3, 1)));
    program->set("y", std::span<const double>(drawn(rows, 2)));
  }
  const Graph& build() {
    const Initializer start = [](std::span<double> values, const Shape&, Rng& rng) {
      for (double& value : values) value = rng.uniform(-1, 1);
    };
    const Tensor x = graph.input("x", {kRows, 3}), y = graph.input("y", {kRows});
    const Tensor w = graph.parameter("w", {3, 20}, start), b = graph.parameter("b", {20}, start);
    const Tensor v = graph.parameter("v", {20, 1}, start);
    const Tensor error = reshape(matmul(tanh(matmul(x, w) + b), v), {kRows}) - y;
    const Tensor scale = sqrt(mean(square(error)));
    loss = mean(square(error) / (1.0 + scale));
    const Tensors parameters{w, b, v};
    const Tensors slopes = gradients(loss, parameters);
    for (size_t k = 0; k < parameters.size(); ++k) {
      const Tensor moment =
          graph.variable("m" + std::to_string(k), parameters[k].shape(), filled(0));
      const Tensor next = 0.9 * moment + slopes[k];
      updates.push_back({moment, next});
      updates.push_back({parameters[k], parameters[k] - 0.05 * next});
    }
    return graph;
  }

  Graph graph;
  Tensor loss;
  std::vector<Update> updates;
  Variables variables;
  std::optional<Program> program;
};

class Kernels : public ::testing::Test {
 protected:
  InsteadOfCuda emulated_{EmulatedGpu::backend()};
};

void expect_same(Variables& a, Variables& b, double tolerance) {
  for (const std::string& name : a.names()) {
    const std::vector<double> first = a.get(name), second = b.get(name);
    for (size_t k = 0; k < first.size(); ++k) {
      EXPECT_NEAR(first[k], second[k], tolerance) << name << " " << k;
    }
  }
}

TEST_F(Kernels, LearnAsTheCpuDoes) {
  Learner here(Device::kCpu), there(Device::kCuda);
  for (int k = 0; k < 5; ++k) {
    here.program->run();
    there.program->run();
    EXPECT_NEAR(here.program->scalar("loss"), there.program->scalar("loss"), 1e-12);
  }
  expect_same(here.variables, there.variables, 1e-12);
}

TEST_F(Kernels, RepeatWithoutTheHost) {
  for (const int64_t times : {2, 5}) {
    Learner one_by_one(Device::kCuda), at_once(Device::kCuda), on_the_cpu(Device::kCpu);
    for (int64_t k = 0; k < times; ++k) one_by_one.program->run();
    at_once.program->repeat(times);
    on_the_cpu.program->repeat(times);
    expect_same(one_by_one.variables, at_once.variables, 0);
    expect_same(one_by_one.variables, on_the_cpu.variables, 1e-12);
    one_by_one.program->run();
    at_once.program->run();
    expect_same(one_by_one.variables, at_once.variables, 0);
  }
}

// One tile: what later phases need stays in the block's memory.
TEST_F(Kernels, KeepRowsWhereTheyAre) {
  Learner here(Device::kCpu, 7), there(Device::kCuda, 7);
  here.program->repeat(3);
  there.program->repeat(3);
  expect_same(here.variables, there.variables, 1e-12);
}

// So few rows that a tile has four: tensor cores then take two positions at once, and the last of
// an odd number alone.
TEST_F(Kernels, TakeTilesOfFourRowsWhereThereAreFew) {
  for (const int64_t positions : {1, 2, 3}) {
    std::vector<std::vector<double>> found;
    for (const Device device : {Device::kCpu, Device::kCuda}) {
      Graph g;
      const Tensor x = g.input("x", {kRows, positions, 5});
      const Tensor w = g.parameter("w", {5, 440}), v = g.parameter("v", {440, 5});
      const Tensor y = matmul(tanh(matmul(x, w)), v);
      const Tensors slopes = gradients(mean(square(y)), {w, v});
      Variables variables(g, Type::kFloat32, 0, device);
      variables.set("w", std::span<const double>(drawn(2200, 3)));
      variables.set("v", std::span<const double>(drawn(2200, 4)));
      Program program(g, variables,
                      {{{"y", y}}, {{w, w - 1e-3 * slopes[0]}, {v, v - 1e-3 * slopes[1]}}},
                      {.rows = 3});
      program.set("x", drawn(15 * positions, 5));
      program.repeat(3);
      std::vector<double> values(size_t(15 * positions));
      program.read("y", std::span<double>(values));
      for (const char* name : {"w", "v"}) {
        for (const double value : variables.get(name)) values.push_back(value);
      }
      found.push_back(values);
    }
    EXPECT_NE(EmulatedGpu::instance().latest().find(positions > 1 ? "kLanes = 4," : "kLanes = 8,"),
              std::string::npos);
    for (size_t k = 0; k < found[0].size(); ++k) EXPECT_NEAR(found[0][k], found[1][k], 1e-4) << k;
  }
}

// The weights of products are variables that change, a slice of one, and computed ones.
TEST_F(Kernels, FindTheWeightsOfEveryRun) {
  std::vector<std::vector<double>> found;
  for (const Device device : {Device::kCpu, Device::kCuda}) {
    Graph g;
    const Tensor x = g.input("x", {kRows, 9});
    const Tensor w = g.parameter("w", {9, 18}), v = g.parameter("v", {9, 20});
    const Tensor y = matmul(x, w), z = matmul(x, slice(v, 1, 3, 20));
    const Tensor both = matmul(tanh(y), reshape(w * 2.0, {18, 9}));
    const Tensor loss = mean(square(both)) + mean(square(z));
    const Tensors slopes = gradients(loss, {w, v});
    Variables variables(g, Type::kFloat64, 0, device);
    variables.set("w", std::span<const double>(drawn(162, 3)));
    variables.set("v", std::span<const double>(drawn(180, 4)));
    Program program(
        g, variables,
        {{{"loss", loss}}, {{w, w - 0.1 * slopes[0]}, {v, v - 0.1 * slopes[1] * mean(w)}}},
        {.rows = 21});
    program.set("x", drawn(189, 5));
    program.repeat(3);
    program.run();
    found.push_back(variables.get("w"));
    for (const double value : variables.get("v")) found.back().push_back(value);
  }
  for (size_t k = 0; k < found[0].size(); ++k) EXPECT_NEAR(found[0][k], found[1][k], 1e-12) << k;
}

// Short products take 11 bits of each factor, others all of float.
TEST_F(Kernels, MakeProductsShortWhereThatIsAllowed) {
  const auto error = [](bool allowed) {
    Graph g;
    const Tensor y = matmul(g.input("x", {kRows, 40}), g.parameter("w", {40, 5}));
    Variables variables(g, Type::kFloat32, 0, Device::kCuda);
    const std::vector<double> x = drawn(400, 6), w = drawn(200, 7);
    variables.set("w", std::span<const double>(w));
    Program program(g, variables, {{{"y", y}}, {}}, {.rows = 10, .short_products = allowed});
    program.set("x", x);
    program.run();
    std::vector<double> values(50);
    program.read("y", std::span<double>(values));
    double most = 0;
    for (size_t r = 0; r < 10; ++r) {
      for (size_t o = 0; o < 5; ++o) {
        double sum = 0;
        for (size_t k = 0; k < 40; ++k) sum += x[r * 40 + k] * w[k * 5 + o];
        most = std::max(most, std::abs(sum - values[r * 5 + o]));
      }
    }
    return most;
  };
  EXPECT_LT(error(false), 2e-6);
  EXPECT_GT(error(true), 1e-5);  // rounded, and
  EXPECT_LT(error(true), 5e-3);  // to nearest: half a unit of the eleventh bit
}

// A search sums gradients by many weights over all rows at once, of the rows of this run alone.
// The factors are numbers that 16 bits hold, so that nothing is rounded.
TEST_F(Kernels, SumLargeGradientsOverAllRowsAtOnce) {
  const auto whole = [](int64_t count, uint64_t seed, double scale) {
    std::vector<double> values = drawn(count, seed);
    for (double& value : values) value = std::round(3 * value) * scale;
    return values;
  };
  for (const int64_t positions : {1, 3}) {
    std::vector<std::vector<double>> found;
    for (const Device device : {Device::kCpu, Device::kCuda}) {
      Graph g;
      const Tensor x = g.input("x", {kRows, positions, 40});
      const Tensor w = g.parameter("w", {40, 610}), v = g.parameter("v", {610, 45});
      const Tensor goal = g.input("goal", {kRows, positions, 45});
      const Tensor y = matmul(matmul(x, w), v);
      const Tensors slopes = gradients(sum(y * goal), {w, v});
      const Tensor all_w = g.variable("all w", {40, 610}), all_v = g.variable("all v", {610, 45});
      Variables variables(g, Type::kFloat32, 0, device);
      variables.set("w", std::span<const double>(whole(40 * 610, 1, 0.125)));
      variables.set("v", std::span<const double>(whole(610 * 45, 2, 0.5)));
      Program program(g, variables,
                      {{{"y", y}}, {{all_w, all_w + slopes[0]}, {all_v, all_v + slopes[1]}}},
                      {.rows = 37, .short_products = true});
      for (const int64_t rows : {37, 21}) {
        program.set("x", whole(rows * positions * 40, 3, 1));
        program.set("goal", whole(rows * positions * 45, 4, 1));
        program.run();
      }
      found.push_back(variables.get("all w"));
      for (const double value : variables.get("all v")) found.back().push_back(value);
    }
    EXPECT_NE(EmulatedGpu::instance().latest().find("leave_factors<40,"), std::string::npos);
    EXPECT_EQ(found[0], found[1]) << positions;
  }
}

TEST_F(Kernels, TilesThatDoNotFitLieInSlowMemory) {
  EmulatedGpu::instance().set_fast_bytes(4096);
  Learner there(Device::kCuda);
  EmulatedGpu::instance().set_fast_bytes(200 << 10);
  Learner here(Device::kCpu);
  there.program->run();
  here.program->run();
  expect_same(here.variables, there.variables, 1e-12);
}

TEST_F(Kernels, LongSharedSumsAndMaxima) {
  Graph g;
  const int64_t size = 40'000;
  const Tensor x = g.parameter("x", {size});
  Variables variables(g, Type::kFloat64, 0, Device::kCuda);
  const std::vector<double> values = drawn(size, 5);
  variables.set("x", std::span<const double>(values));
  const Tensor norm = sqrt(sum(square(x)));
  Program program(g, variables,
                  {{{"norm", norm}, {"top", max(x, {0})}, {"mean", mean(x / norm)}}, {}},
                  {.rows = 1});
  program.run();
  double squares = 0, total = 0, top = -1;
  for (const double value : values) {
    squares += value * value;
    total += value;
    top = std::max(top, value);
  }
  EXPECT_NEAR(program.scalar("norm"), std::sqrt(squares), 1e-9);
  EXPECT_NEAR(program.scalar("mean"), total / std::sqrt(squares) / double(size), 1e-12);
  EXPECT_EQ(program.scalar("top"), top);
}

TEST_F(Kernels, LoopsChangeTheirStatesTogether) {
  Graph g;
  const Tensor goal = g.input("goal", {kRows, 2});
  const Tensors ends =
      repeat(7, {broadcast(g.constant(1), {kRows, 2}), goal},
             [&](const Tensors& s, Tensor step) -> Tensors {
               return {s[1], s[0] + reshape(step, {kRows, 1}) * (exp(goal) - s[1])};
             });
  const std::vector<double> goals = drawn(66, 2);
  std::vector<std::vector<double>> found;
  for (const Device device : {Device::kCpu, Device::kCuda}) {
    Variables variables(g, Type::kFloat64, 0, device);
    Program program(g, variables, {{{"a", ends[0]}, {"b", ends[1]}}, {}}, {.rows = 33});
    program.set("goal", goals);
    program.run();
    std::vector<double> both(132);
    program.read("a", std::span<double>(both).first(66));
    program.read("b", std::span<double>(both).last(66));
    found.push_back(both);
  }
  for (size_t k = 0; k < found[0].size(); ++k) {
    EXPECT_NEAR(found[0][k], found[1][k], 1e-9 * std::abs(found[0][k]));
  }
}

// What a step reads and writes, element by element.
struct Touched {
  std::map<std::tuple<Space, int32_t, int64_t>, bool> written;
  void add(const Plan& plan, const Step& step) {
    const auto view = [&](const View& it, bool writes) {
      if (it.uniform || it.buffer < 0) return;
      const Buffer& buffer = plan.buffers[size_t(it.buffer)];
      for (int64_t i = 0; i < it.count(); ++i) {
        int64_t rest = i, at = buffer.offset + it.offset;
        for (size_t axis = it.shape.size(); axis-- > 0; rest /= it.shape[axis]) {
          at += rest % it.shape[axis] * it.strides[axis];
        }
        bool& known = written[{buffer.space, buffer.variable, at}];
        known = known || writes;
      }
    };
    for (const View& it : step.inputs) view(it, false);
    for (const View& it : step.outputs) view(it, true);
    for (const Step& inner : step.body) add(plan, inner);
  }
};

TEST(KernelWaves, TouchNothingThatAnotherStepOfTheWaveWrites) {
  for (const int64_t room : {0, 3500}) {
    Learner learner(Device::kCpu);
    PlanRequest request{.limits = kernel::plan_limits(EmulatedGpu::instance())};
    request.limits.roomy_features = room;
    request.outputs.emplace_back("loss", learner.loss.id);
    for (const Update& it : learner.updates) {
      request.updates.emplace_back(it.variable.id, it.value.id);
    }
    const Plan plan = make_plan(learner.graph, request);
    size_t steps = 0, waves = 0;
    for (const Phase& phase : plan.phases) {
      steps += phase.rows.size();
      for (const auto& wave : kernel::waves_of(plan, phase.rows)) {
        ++waves;
        Touched before;
        for (const Step* step : wave) {
          Touched own;
          own.add(plan, *step);
          for (const auto& [place, writes] : own.written) {
            const auto other = before.written.find(place);
            EXPECT_FALSE(other != before.written.end() && (writes || other->second));
          }
          before.written.insert(own.written.begin(), own.written.end());
        }
      }
    }
    EXPECT_LT(waves, steps) << "nothing goes side by side";
  }
}

// A search as mechanisms have it: two networks, items shared by a softmax with one more bidder and
// item than there are, the gradient of what is won, and steps of the bid.
struct Search {
  Search() {
    const Tensor x = graph.input("x", {kRows, 2, 2}), own = graph.input("own", {kRows, 2});
    const Tensor bid = graph.input("bid", {kRows, 2});
    const Initializer start = [](std::span<double> values, const Shape&, Rng& rng) {
      for (double& value : values) value = rng.uniform(-1, 1);
    };
    const Tensor u = graph.parameter("u", {4, 50}, start), v = graph.parameter("v", {50, 9}, start);
    const Tensor s = graph.parameter("s", {4, 50}, start), t = graph.parameter("t", {50, 2}, start);
    const Tensor mine = reshape(own, {kRows, 2, 1});
    const Tensor zero = broadcast(graph.constant(0), {kRows, 2});
    const Tensors end = repeat(4, {bid, zero}, [&](const Tensors& now, Tensor step) -> Tensors {
      const Tensor bids = reshape(where(mine, reshape(now[0], {kRows, 1, 2}), x), {kRows, 4});
      const Tensor shares = softmax(reshape(matmul(tanh(matmul(bids, u)), v), {kRows, 3, 3}), 1);
      const Tensor given = slice(slice(shares, 1, 0, 2), 2, 0, 2);
      const Tensor paid = sigmoid(matmul(tanh(matmul(bids, s)), t));
      const Tensor won = sum(given * mine, {1});
      const Tensor fraction = sum(paid * own, {-1}, Keep::kYes);
      const Tensor worth = sum(won * sum(x * mine, {1}), {-1}, Keep::kYes) -
                           fraction * sum(won * now[0], {-1}, Keep::kYes);
      const Tensor slope = gradients(worth, {now[0]})[0];
      const Tensor moved = 0.9 * now[1] + 0.1 * slope;
      const Tensor rate = reshape(exp(step * -0.1), {kRows, 1});
      return {minimum(maximum(now[0] + rate * moved / (sqrt(square(moved)) + 1e-3), 0.0), 1.0),
              moved};
    });
    best = end[0];
  }
  Graph graph;
  Tensor best;
};

TEST_F(Kernels, SearchAsTheCpuDoes) {
  std::vector<std::vector<double>> found;
  for (const Device device : {Device::kCpu, Device::kCuda}) {
    Search search;
    Variables variables(search.graph, Type::kFloat64, 0, device);
    variables.initialize(3);
    Program program(search.graph, variables, {{{"best", search.best}}, {}}, {.rows = 19});
    std::vector<double> own;
    for (int row = 0; row < 19; ++row)
      own.insert(own.end(), {row % 2 == 0 ? 1.0 : 0.0, row % 2 == 0 ? 0.0 : 1.0});
    program.set("x", drawn(19 * 4, 1));
    program.set("own", own);
    program.set("bid", drawn(19 * 2, 2));
    program.run();
    found.emplace_back(19 * 2);
    program.read("best", std::span<double>(found.back()));
  }
  for (size_t k = 0; k < found[0].size(); ++k) EXPECT_NEAR(found[0][k], found[1][k], 1e-11) << k;
}

// Steps that depend on each other are few: bids, three products each way, and five in between and
// after that.
TEST(KernelPlans, RoundsOfASearchHaveFewWaves) {
  Search search;
  PlanRequest request{.limits = kernel::plan_limits(EmulatedGpu::instance())};
  request.outputs.emplace_back("best", search.best.id);
  const Plan plan = make_plan(search.graph, request);
  const auto& rows = plan.phases[0].rows;
  const auto loop = std::find_if(rows.begin(), rows.end(),
                                 [](const Step& it) { return it.kind == StepKind::kLoop; });
  ASSERT_NE(loop, rows.end());
  EXPECT_LE(kernel::waves_of(plan, loop->body).size(), 10u) << to_string(plan);
  for (const Step& step : loop->body) EXPECT_FALSE(step.op == Op::kReshape) << "a copy";
}

// Positions that lie between others are no reason to wait.
TEST(KernelWaves, ViewsThatTakeTurnsInMemoryDoNotMeet) {
  Plan plan;
  plan.buffers = {{.size = 6}, {.size = 6, .offset = 6}};
  const auto view = [](int32_t buffer, int64_t offset, Shape shape, std::vector<int64_t> strides) {
    return View{buffer, offset, std::move(shape), std::move(strides), true};
  };
  const auto step = [&](const View& from, const View& to) {
    return Step{.op = Op::kReshape, .inputs = {from}, .outputs = {to}};
  };
  const std::vector<Step> apart{step(view(1, 0, {3}, {1}), view(0, 0, {3}, {2})),
                                step(view(1, 3, {3}, {1}), view(0, 1, {3}, {2}))};
  EXPECT_EQ(kernel::waves_of(plan, apart).size(), 1u);
  const std::vector<Step> meeting{step(view(1, 0, {3}, {1}), view(0, 0, {3}, {2})),
                                  step(view(1, 3, {2}, {1}), view(0, 1, {2}, {3}))};
  EXPECT_EQ(kernel::waves_of(plan, meeting).size(), 2u);
}

// Slopes of activations are multiplied where the product that they meet is computed.
TEST(KernelPlans, ElementwiseStepsFollowTheProductThatOnlyTheyRead) {
  Graph g;
  const Tensor x = g.input("x", {kRows, 3}), u = g.parameter("u", {3, 50});
  const Tensor v = g.parameter("v", {50, 50}), w = g.parameter("w", {50, 1});
  const Tensor y = matmul(tanh(matmul(tanh(matmul(x, u)), v)), w);
  PlanRequest request{.limits = kernel::plan_limits(EmulatedGpu::instance())};
  for (const Tensor& slope : gradients(mean(square(y)), {u, v, w})) {
    request.outputs.emplace_back(std::to_string(slope.id), slope.id);
  }
  const Plan plan = make_plan(g, request);
  size_t products = 0;
  for (const Phase& phase : plan.phases) {
    for (const Step& step : phase.rows) {
      if (step.op != Op::kMatmul || step.outputs[0].buffer < 0) continue;
      ++products;
      std::vector<const Step*> readers;
      for (const Step& other : phase.rows) {
        for (const View& it : other.inputs) {
          if (it.buffer == step.outputs[0].buffer) readers.push_back(&other);
        }
      }
      const bool apart = readers.size() == 1 && readers[0]->kind == StepKind::kElementwise &&
                         readers[0]->outputs[0].shape == step.outputs[0].shape;
      EXPECT_FALSE(apart) << to_string(plan);
    }
  }
  EXPECT_GT(products, 0u);
}

TEST_F(Kernels, RunOnFewerRowsThanTheyWereMadeFor) {
  Graph g;
  const Tensor x = g.input("x", {kRows});
  const Tensor seen = g.variable("seen", {kRows});
  Variables variables(g, Type::kFloat64, 40, Device::kCuda);
  Program program(g, variables, {{{"mean", mean(x)}}, {{seen, x}}}, {.rows = 40});
  program.set("x", std::vector<double>(40, 1.0));
  program.run();
  program.set("x", std::vector<double>{2, 4, 9});
  program.run();
  EXPECT_DOUBLE_EQ(program.scalar("mean"), 5);
  EXPECT_EQ(variables.get("seen")[2], 9);
  EXPECT_EQ(variables.get("seen")[3], 1);
}

TEST_F(Kernels, NameWhatIsNotFiniteAndIndicesOutOfRange) {
  Graph g;
  const Tensor x = g.input("x", {kRows, 2});
  const Tensor w = g.parameter("w", {2}, filled(1));
  const Tensor inner = log(x * w).named("logarithm");
  const Tensor loss = mean(exp(inner) * tanh(inner));
  Variables variables(g, Type::kFloat32, 0, Device::kCuda);
  variables.initialize(1);
  Program program(g, variables, {{{"loss", loss}}, {{w, w + loss}}}, {.rows = 20});
  std::vector<double> values(40, 0.7);
  values[25] = -1;
  program.set("x", values);
  expect_user_error([&] { program.run(); }, {"'loss'", "log 'logarithm' (rows, 2)"});
  EXPECT_EQ(variables.get("w")[0], 1);
  values[25] = std::nan("");
  program.set("x", values);
  expect_user_error([&] { program.run(); }, {"that of input 'x' (rows, 2)"});
  values[25] = 0.5;
  program.set("x", values);
  program.run();

  Graph tables;
  const Tensor y =
      gather(tables.parameter("table", {3}, filled(2)), tables.index_input("index", {kRows}));
  Variables table(tables, Type::kFloat32, 0, Device::kCuda);
  table.initialize(1);
  Program look(tables, table, {{{"total", sum(y)}}, {}}, {.rows = 2});
  look.set("index", std::vector<int32_t>{0, 3});
  expect_user_error([&] { look.run(); }, {"gather: index 3 is outside [0, 3)"});
  look.set("index", std::vector<int32_t>{0, 2});
  look.run();
  EXPECT_EQ(look.scalar("total"), 4);
}

}  // namespace
}  // namespace agora::compute
