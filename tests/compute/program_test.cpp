// Programs as a whole: phases, loops, threads, memory, errors, state on disk.
#include "compute/program.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "compute/gradients.h"
#include "compute/memory_block.h"
#include "compute/operations.h"
#include "support/allocations.h"

namespace agora::compute {
namespace {

std::vector<double> drawn(int64_t count, uint64_t seed, double low = -1, double high = 1) {
  std::vector<double> values(static_cast<size_t>(count));
  Rng rng(seed);
  for (double& value : values) value = rng.uniform(low, high);
  return values;
}

std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

Initializer random_values() {
  return [](std::span<double> values, const Shape&, Rng& rng) {
    for (double& value : values) value = rng.uniform(-.5, .5);
  };
}

// A small training step with everything in it: a loop with state, a loss of batch means that
// needs two phases, updates of parameters and of rows.
struct Training {
  Graph g;
  std::vector<Output> outputs;
  std::vector<Update> updates;

  Training() {
    const Tensor x = g.input("x", {kRows, 3});
    const Tensor w = g.parameter("w", {3, 8}, random_values());
    const Tensor b = g.parameter("b", {8}, random_values());
    const Tensor v = g.parameter("v", {8, 1}, random_values());
    const Tensor guess = g.variable("guess", {kRows, 3}, filled(0.25));
    const auto net = [&](Tensor in) { return matmul(tanh(matmul(in, w, b)), v); };
    const Tensor found = repeat(4, {guess}, [&](const Tensors& s, Tensor step) -> Tensors {
      const Tensor slope = gradients(net(s[0] * x), {s[0]})[0];
      return {clip(s[0] + slope / reshape(step, {kRows, 1}), -1, 1)};
    })[0];
    const Tensor gain = relu(net(found * x) - net(x));
    const Tensor regret = mean(gain);
    const Tensor loss = sqrt(mean(square(net(x))) + 0.1) + square(regret) + regret;
    const Tensors parameters = g.parameters();
    const Tensors slopes = gradients(loss, parameters);
    for (size_t k = 0; k < parameters.size(); ++k) {
      updates.push_back({parameters[k], parameters[k] - 0.05 * slopes[k]});
    }
    updates.push_back({guess, found});
    outputs = {{"loss", loss}, {"found", found}};
  }
};

TEST(Program, GivesTheSameBitsWithAnyNumberOfThreads) {
  std::vector<std::vector<double>> results;
  for (const auto& [threads, own] :
       {std::pair(1, true), {2, true}, {3, true}, {16, true}, {1, false}, {3, false}, {5, false}}) {
    Training t;
    Variables variables(t.g, Type::kFloat32, 203);
    variables.initialize(3);
    ThreadPool pool(own ? threads : 1);
    set_default_threads(threads);  // the program's pool where none is given
    Program program(t.g, variables, {t.outputs, t.updates},
                    {.rows = 203, .cpu = {.lanes = 16, .pool = own ? &pool : nullptr}});
    program.set("x", drawn(203 * 3, 1));
    std::vector<double> all;
    for (int step = 0; step < 5; ++step) {
      program.run();
      all.push_back(program.scalar("loss"));
    }
    for (const char* name : {"w", "b", "v", "guess"}) {
      for (const double value : variables.get(name)) all.push_back(value);
    }
    results.push_back(all);
  }
  set_default_threads(hardware_threads());
  for (size_t k = 1; k < results.size(); ++k) EXPECT_EQ(results[k], results[0]) << k;
  EXPECT_LT(results[0][4], results[0][0]);  // it learns
}

// A maximum that several inputs reach: of a row they share the gradient, of two tensors the first
// has it.
TEST(Program, TiesOfAMaximum) {
  Graph g;
  const Tensor x = g.input("x", {kRows, 3});
  const Tensor y = g.input("y", {kRows, 3});
  const Tensor in_row = gradients(sum(max(x, {1})), {x})[0];
  const Tensors larger = gradients(sum(maximum(x, y)), {x, y});
  const Tensors smaller = gradients(sum(minimum(x, y)), {x, y});
  Variables variables(g, Type::kFloat64, 3);
  Program program(g, variables,
                  {{{"row", in_row},
                    {"larger x", larger[0]},
                    {"larger y", larger[1]},
                    {"smaller x", smaller[0]},
                    {"smaller y", smaller[1]}},
                   {}},
                  {.rows = 3});
  program.set("x", std::vector<double>{2, 2, 2, 1, 3, 3, 5, 4, 4});
  program.set("y", std::vector<double>{2, 1, 3, 1, 3, 4, 4, 4, 5});
  program.run();
  using Values = std::vector<double>;
  const auto read = [&](std::string_view output) {
    Values values(9);
    program.read(output, values);
    return values;
  };
  const double third = 1.0 / 3;
  EXPECT_EQ(read("row"), (Values{third, third, third, 0, 0.5, 0.5, 1, 0, 0}));
  EXPECT_EQ(read("larger x"), (Values{1, 1, 0, 1, 1, 0, 1, 1, 0}));
  EXPECT_EQ(read("larger y"), (Values{0, 0, 1, 0, 0, 1, 0, 0, 1}));
  EXPECT_EQ(read("smaller x"), (Values{1, 0, 1, 1, 1, 1, 0, 1, 1}));
  EXPECT_EQ(read("smaller y"), (Values{0, 1, 0, 0, 0, 0, 1, 0, 0}));
}

TEST(Program, TileSizesAgree) {
  std::vector<std::vector<double>> results;
  for (const int64_t lanes : {16, 32, 64}) {
    Training t;
    Variables variables(t.g, Type::kFloat64, 50);
    variables.initialize(3);
    Program program(t.g, variables, {t.outputs, t.updates}, {.rows = 50, .cpu = {.lanes = lanes}});
    program.set("x", drawn(50 * 3, 1));
    program.run();
    results.push_back(variables.get("w"));
  }
  for (size_t k = 0; k < results[0].size(); ++k) {
    EXPECT_NEAR(results[1][k], results[0][k], 1e-13);
    EXPECT_NEAR(results[2][k], results[0][k], 1e-13);
  }
}

TEST(Program, GradientsThroughBatchMeansMatchFiniteDifferences) {
  Graph g;
  const Tensor x = g.input("x", {kRows, 3});
  const Tensor w = g.parameter("w", {3, 2});
  const Tensor y = matmul(x, w);
  const Tensor loss = sqrt(mean(square(y))) - square(mean(tanh(y * mean(y, {0}))));
  Variables variables(g, Type::kFloat64);
  Program program(g, variables, {{{"loss", loss}, {"dw", gradients(loss, {w})[0]}}, {}},
                  {.rows = 37});
  program.set("x", drawn(37 * 3, 4));
  std::vector<double> weights = drawn(6, 8), found(6);
  const auto evaluate = [&] {
    variables.set("w", weights);
    program.run();
    return program.scalar("loss");
  };
  evaluate();
  program.read("dw", std::span<double>(found));
  for (size_t k = 0; k < weights.size(); ++k) {
    const double original = weights[k];
    weights[k] = original + 1e-6;
    const double up = evaluate();
    weights[k] = original - 1e-6;
    const double down = evaluate();
    weights[k] = original;
    EXPECT_NEAR(found[k], (up - down) / 2e-6, 1e-7);
  }
}

TEST(Program, RepeatRunsItsBodyOnEachRow) {
  Graph g;
  const Tensor goal = g.input("goal", {kRows, 2});
  const Tensors ends =
      repeat(7, {broadcast(g.constant(1), {kRows, 2}), goal},
             [&](const Tensors& s, Tensor step) -> Tensors {
               const Tensor turn = reshape(step, {kRows, 1});
               return {s[1], s[0] + turn * (exp(goal) - s[1])};  // the states change places
             });
  Variables variables(g, Type::kFloat64);
  Program program(g, variables, {{{"a", ends[0]}, {"b", ends[1]}}, {}}, {.rows = 33});
  const std::vector<double> goals = drawn(66, 2);
  program.set("goal", goals);
  program.run();
  std::vector<double> a(66), b(66);
  program.read("a", std::span<double>(a));
  program.read("b", std::span<double>(b));
  Program half(g, variables, {{{"b", ends[1]}}, {}}, {.rows = 33});  // the other result is dead
  half.set("goal", goals);
  half.run();
  std::vector<double> same(66);
  half.read("b", std::span<double>(same));
  EXPECT_EQ(same, b);
  for (size_t k = 0; k < goals.size(); ++k) {
    double first = 1, second = goals[k];
    for (int turn = 1; turn <= 7; ++turn) {
      const double next = first + turn * (std::exp(goals[k]) - second);
      first = second;
      second = next;
    }
    EXPECT_NEAR(a[k], first, 1e-9 * std::abs(first));
    EXPECT_NEAR(b[k], second, 1e-9 * std::abs(second));
  }
}

TEST(Program, RunsOnFewerRowsThanItWasMadeFor) {
  Graph g;
  const Tensor x = g.input("x", {kRows});
  const Tensor seen = g.variable("seen", {kRows});
  Variables variables(g, Type::kFloat64, 40);
  Program program(g, variables, {{{"mean", mean(x)}}, {{seen, x}}}, {.rows = 40});
  program.set("x", std::vector<double>(40, 1.0));
  program.run();
  program.set("x", std::vector<double>{2, 4, 9});
  program.run();
  EXPECT_DOUBLE_EQ(program.scalar("mean"), 5);
  const std::vector<double> values = variables.get("seen");
  EXPECT_EQ(values[2], 9);
  EXPECT_EQ(values[3], 1);  // rows that did not take part
}

TEST(Program, RunningAllocatesNothing) {
  Training t;
  Variables variables(t.g, Type::kFloat32, 100);
  variables.initialize(3);
  ThreadPool pool(2);
  Program program(t.g, variables, {t.outputs, t.updates}, {.rows = 100, .cpu = {.pool = &pool}});
  const std::vector<double> x = drawn(300, 1);
  std::vector<float> found(300);
  program.set("x", x);
  program.run();
  const int64_t before = allocations_so_far();
  for (int step = 0; step < 20; ++step) {
    program.set("x", x);
    program.run();
    program.read("found", std::span<float>(found));
  }
  EXPECT_EQ(allocations_so_far() - before, 0);
}

int64_t resident_pages() {
  std::ifstream file("/proc/self/statm");
  int64_t size = 0, resident = 0;
  file >> size >> resident;
  return resident;
}

void run_many(int64_t steps) {
  Graph g;
  const Tensor x = g.input("x", {kRows, 2});
  const Tensor w = g.parameter("w", {2, 1}, random_values());
  const Tensor loss = mean(square(matmul(x, w) - 1.0));
  Variables variables(g);
  variables.initialize(1);
  ThreadPool pool(1);
  Program program(g, variables, {{{"loss", loss}}, {{w, w - 0.01 * gradients(loss, {w})[0]}}},
                  {.rows = 4, .cpu = {.pool = &pool}});
  const std::vector<double> values = drawn(8, 5);
  program.set("x", values);
  for (int k = 0; k < 100; ++k) program.run();
  const int64_t before = resident_pages();
  for (int64_t k = 0; k < steps; ++k) {
    program.set("x", values);
    program.run();
  }
  EXPECT_LE(resident_pages() - before, 16);
}

TEST(Program, MemoryDoesNotGrow) { run_many(100'000); }
TEST(ProgramSlow, MemoryDoesNotGrowOverAMillionSteps) { run_many(1'000'000); }

TEST(Program, NamesTheFirstNonFiniteNodeAndKeepsTheVariables) {
  Graph g;
  const Tensor x = g.input("x", {kRows, 2});
  const Tensor w = g.parameter("w", {2}, filled(1));
  const Tensor inner = log(x * w).named("logarithm");
  const Tensor loss = mean(exp(inner) * tanh(inner));
  Variables variables(g);
  variables.initialize(1);
  Program program(g, variables, {{{"loss", loss}}, {{w, w + loss}}}, {.rows = 20});
  std::vector<double> values = drawn(40, 3, 0.5, 1);
  program.set("x", values);
  program.run();
  const std::vector<double> good = variables.get("w");
  values[25] = -1;
  program.set("x", values);
  const std::string message = message_of([&] { program.run(); });
  EXPECT_NE(message.find("'loss'"), std::string::npos) << message;
  EXPECT_NE(message.find("log 'logarithm' (rows, 2)"), std::string::npos) << message;
  EXPECT_EQ(variables.get("w"), good);

  values[25] = std::nan("");
  program.set("x", values);
  EXPECT_EQ(message_of([&] { program.run(); }),
            "output 'loss' is nan: the first non-finite value is that of input 'x' (rows, 2)");
  values[25] = 0.5;
  program.set("x", values);
  variables.set("w", std::vector<double>{1, INFINITY});
  const std::string infinite = message_of([&] { program.run(); });
  EXPECT_NE(infinite.find("that of variable 'w' (2)"), std::string::npos) << infinite;
  variables.set("w", good);
  program.run();
}

// Of a larger or smaller one, whichever operand it is.
TEST(Program, ANumberThatIsNoneIsNotChosenAway) {
  for (const bool larger : {true, false}) {
    Graph g;
    const Tensor x = g.input("x", {kRows, 2}), y = g.input("y", {kRows, 2});
    const Tensor loss = mean(larger ? maximum(x, y) : minimum(x, y));
    Variables variables(g);
    Program program(g, variables, {{{"loss", loss}}, {}}, {.rows = 20});
    for (const char* bad : {"x", "y"}) {
      for (const char* name : {"x", "y"}) {
        std::vector<double> values = drawn(40, 3);
        if (std::string(name) == bad) values[25] = std::nan("");
        program.set(name, values);
      }
      EXPECT_EQ(message_of([&] { program.run(); }).find("output 'loss' is nan"), 0u) << bad;
    }
  }
}

// A product that is used twice, plainly and behind an activation.
TEST(Program, AProductIsFusedOnlyWhereNobodyElseLooksAtIt) {
  for (const bool plainly_first : {true, false}) {
    Graph g;
    const Tensor x = g.input("x", {kRows, 3});
    const Tensor w = g.parameter("w", {3, 4}, random_values()),
                 b = g.parameter("b", {4}, random_values());
    const Tensor product = matmul(x, w);
    Tensor plain, activated;
    if (plainly_first) plain = product * 2.0;
    activated = tanh(product + b);
    if (!plainly_first) plain = product * 2.0;
    Variables variables(g, Type::kFloat64);
    variables.initialize(4);
    Program program(g, variables, {{{"plain", plain}, {"activated", activated}}, {}}, {.rows = 5});
    const std::vector<double> values = drawn(15, 6);
    program.set("x", values);
    program.run();
    std::vector<double> first(20), second(20);
    program.read("plain", std::span<double>(first));
    program.read("activated", std::span<double>(second));
    const std::vector<double> weights = variables.get("w"), bias = variables.get("b");
    for (size_t row = 0; row < 5; ++row) {
      for (size_t o = 0; o < 4; ++o) {
        double sum = 0;
        for (size_t k = 0; k < 3; ++k) sum += values[row * 3 + k] * weights[k * 4 + o];
        EXPECT_NEAR(first[row * 4 + o], 2 * sum, 1e-12);
        EXPECT_NEAR(second[row * 4 + o], std::tanh(sum + bias[o]), 1e-12);
      }
    }
  }
}

TEST(Program, NamesANonFiniteNodeOfTheSharedStepsAndOfAFusedStep) {
  Graph g;
  const Tensor x = g.input("x", {kRows, 2, 2, 1});
  const Tensor revenue = mean(x);
  const Tensor root = sqrt(revenue).named("root of the revenue");
  const Tensor cells = tanh(reflect(x * 3e38, {1, 2})).named("cells");
  Variables variables(g);
  Program shared(g, variables, {{{"loss", root + 1.0}}, {}}, {.rows = 3});
  shared.set("x", std::vector<double>(12, -1.0));
  EXPECT_EQ(message_of([&] { shared.run(); }),
            "output 'loss' is nan: the first non-finite value is that of sqrt 'root of the "
            "revenue' ()");
  Program fused(g, variables, {{{"loss", mean(log(cells - 1.0))}}, {}}, {.rows = 3});
  fused.set("x", std::vector<double>(12, 1.0));  // sums overflow, and tanh of infinity is 1
  const std::string message = message_of([&] { fused.run(); });
  EXPECT_NE(message.find("non-finite value is that of"), std::string::npos) << message;
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
}

TEST(Program, MistakesAreOneClearLine) {
  Graph g;
  const Tensor x = g.input("x", {kRows, 3});
  const Tensor w = g.parameter("w", {4, 2});
  EXPECT_EQ(message_of([&] { matmul(x, w); }),
            "matmul: shapes (rows, 3) and (4, 2) have different inner sizes");
  EXPECT_EQ(message_of([&] {
              x + g.constant({1, 2}, {2});
            }),
            "add: shapes (rows, 3) and (2) do not broadcast");
  EXPECT_EQ(message_of([&] {
              reshape(x, {kRows, 4});
            }),
            "reshape: shapes (rows, 3) and (rows, 4) hold different numbers of values");
  EXPECT_EQ(message_of([&] { softmax(x, 2); }),
            "softmax: axis 2 does not exist in shape (rows, 3)");
  EXPECT_EQ(message_of([&] {
              concat({x, g.input("y", {kRows, 2, 2})}, 1);
            }),
            "concat: shapes (rows, 3) and (rows, 2, 2) differ off the axis");
  EXPECT_EQ(message_of([&] { g.input("x", {2}); }),
            "the graph has two inputs or variables named 'x'");
  EXPECT_NE(message_of([&] {
              repeat(2, {x},
                     [&](const Tensors& s, Tensor) -> Tensors { return {s[0] - mean(s[0])}; });
              Variables variables(g);
              Program(g, variables, {{{"y", g.loops().empty() ? x : Tensor{&g, g.size() - 1}}}, {}},
                      {.rows = 2});
            }).find("is not row-local"),
            std::string::npos);
  Variables variables(g);
  const Tensor y = x * 2.0;
  EXPECT_EQ(message_of([&] {
              Program(g, variables, {{{"y", y}}, {}}, {.rows = 0});
            }),
            "a program needs at least one row, found 0");
  Program program(g, variables, {{{"y", y}}, {}}, {.rows = 5});
  EXPECT_EQ(message_of([&] { program.run(); }), "input 'x' has not been set");
  EXPECT_EQ(message_of([&] { program.set("x", std::vector<double>{}); }),
            "input 'x': the batch is empty");
  EXPECT_EQ(message_of([&] { program.set("x", std::vector<double>(7)); }),
            "input 'x' of shape (rows, 3) takes up to 5 rows of 3 values, found 7 values");
  EXPECT_NE(message_of([&] { program.set("z", 1.0); }).find("no input 'z'"), std::string::npos);
  EXPECT_NE(message_of([&] {
              Program(g, variables, {{{"y", y}}, {}}, {.rows = int64_t{1} << 50});
            }).find("out of memory"),
            std::string::npos);
}

// The system would promise that much, and end the process when it is touched.
TEST(MemoryBlock, RefusesWhatTheMachineDoesNotHave) {
  std::ifstream file("/proc/meminfo");
  std::string key;
  int64_t kilobytes = 0;
  file >> key >> kilobytes;
  ASSERT_EQ(key, "MemTotal:");
  const std::string message = message_of([&] { MemoryBlock(kilobytes << 10, "a test"); });
  EXPECT_EQ(message.find(fmt::format("out of memory: {} MiB for a test, ", kilobytes >> 10)), 0u)
      << message;
}

TEST(Variables, AreSavedAndRestoredAndMismatchesRefused) {
  const std::filesystem::path folder =
      std::filesystem::path(::testing::TempDir()) / "agora_variables";
  std::filesystem::create_directories(folder);
  const auto file = folder / "state.safetensors";
  const auto variables_of = [](const std::vector<std::pair<std::string, Shape>>& shapes) {
    auto g = std::make_unique<Graph>();
    for (const auto& [name, shape] : shapes) g->parameter(name, shape, random_values());
    return g;
  };
  const auto graph = variables_of({{"w", {2, 3}}, {"b", {3}}});
  Variables saved(*graph);
  saved.initialize(11);
  saved.save(file);
  Variables loaded(*graph, Type::kFloat64);
  loaded.load(file);
  EXPECT_EQ(loaded.get("w"), saved.get("w"));
  EXPECT_EQ(loaded.get("b"), saved.get("b"));
  const auto refused = [&](const std::vector<std::pair<std::string, Shape>>& shapes) {
    const auto other = variables_of(shapes);
    Variables variables(*other);
    const std::string message = message_of([&] { variables.load(file); });
    EXPECT_EQ(variables.get("w"), std::vector<double>(variables.get("w").size(), 0.0));
    EXPECT_EQ(message.find('\n'), std::string::npos);
    return message.substr(message.find(": ") + 2);
  };
  EXPECT_EQ(refused({{"w", {2, 3}}, {"b", {3}}, {"c", {1}}}), "tensor 'c' of shape (1) is missing");
  EXPECT_EQ(refused({{"w", {2, 3}}}).substr(0, 18), "unknown tensor 'b'");
  EXPECT_EQ(refused({{"w", {3, 2}}, {"b", {3}}}), "tensor 'w' has shape (2, 3), expected (3, 2)");
  std::filesystem::remove_all(folder);
}

TEST(Program, GoesOnAfterAnIndexOutOfRange) {
  Graph g;
  const Tensor table = g.parameter("table", {3}, filled(2));
  const Tensor y = gather(table, g.index_input("index", {kRows}));
  Variables variables(g);
  variables.initialize(1);
  Program program(g, variables, {{{"total", sum(y)}}, {}}, {.rows = 2});
  program.set("index", std::vector<int32_t>{0, 3});
  EXPECT_EQ(message_of([&] { program.run(); }), "gather: index 3 is outside [0, 3)");
  program.set("index", std::vector<int32_t>{0, 2});
  program.run();
  EXPECT_EQ(program.scalar("total"), 4);
}

TEST(Program, BytesAreScaledImages) {
  Graph g;
  const Tensor image = g.byte_input("image", {kRows, 2}, 1.0 / 255);
  Variables variables(g, Type::kFloat64);
  Program program(g, variables, {{{"y", image}}, {}}, {.rows = 2});
  program.set("image", std::vector<uint8_t>{0, 255, 51, 102});
  program.run();
  std::vector<double> y(4);
  program.read("y", std::span<double>(y));
  EXPECT_NEAR(y[1], 1, 1e-15);
  EXPECT_NEAR(y[2], .2, 1e-15);
}

TEST(Program, BytesOfManyRowsKeepTheirPlaces) {
  constexpr int64_t kCount = 37, kFeatures = 601;
  Graph g;
  const Tensor image = g.byte_input("image", {kRows, kFeatures}, 0.5);
  Variables variables(g);
  Program program(g, variables, {{{"y", image + 1.0}}, {}}, {.rows = kCount, .cpu = {.lanes = 64}});
  std::vector<uint8_t> bytes(kCount * kFeatures);
  for (size_t k = 0; k < bytes.size(); ++k) bytes[k] = static_cast<uint8_t>(k * 2654435761U >> 13);
  program.set("image", bytes);
  program.run();
  std::vector<float> y(bytes.size());
  program.read("y", std::span<float>(y));
  for (size_t k = 0; k < bytes.size(); ++k) ASSERT_EQ(y[k], 0.5F * bytes[k] + 1) << k;
}

// Rows of a table, without a copy, until the input is set otherwise.
TEST(Program, BytesMayBeRowsOfATable) {
  constexpr int64_t kTable = 300, kFeatures = 70;
  Graph g;
  const Tensor image = g.byte_input("image", {kRows, kFeatures}, 0.5);
  Variables variables(g);
  Program program(g, variables, {{{"y", image + 1.0}}, {}}, {.rows = 150, .cpu = {.lanes = 32}});
  std::vector<uint8_t> table(kTable * kFeatures);
  for (size_t k = 0; k < table.size(); ++k) table[k] = static_cast<uint8_t>(k * 2654435761U >> 13);
  const auto expect_rows = [&](const std::vector<int32_t>& rows) {
    program.run();
    std::vector<float> y(rows.size() * kFeatures);
    program.read("y", std::span<float>(y));
    for (size_t k = 0; k < y.size(); ++k) {
      const size_t from = static_cast<size_t>(rows[k / kFeatures]) * kFeatures + k % kFeatures;
      ASSERT_EQ(y[k], 0.5F * table[from] + 1) << k;
    }
  };
  std::vector<int32_t> chosen;
  for (int32_t k = 0; k < 150; ++k) chosen.push_back(k * 7 % kTable);
  program.set_rows("image", table, chosen);
  expect_rows(chosen);
  chosen = {299, 0, 299};
  program.set_rows("image", table, chosen);
  expect_rows(chosen);
  program.set("image", std::span<const uint8_t>(table).first(2 * kFeatures));
  expect_rows({0, 1});
  for (const int32_t none : {-1, 300}) {
    EXPECT_THROW(program.set_rows("image", table, std::vector<int32_t>{none}), Error);
  }
}

}  // namespace
}  // namespace agora::compute
