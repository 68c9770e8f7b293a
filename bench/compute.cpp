// One outer iteration of each training of the thesis as programs of the compute core.
//
//   bench_compute [--threads N] [--lanes N] [--list] [WORK...]
//   bench_compute --serve --threads N     answers each line `WORK REPS` by one line of JSON
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <functional>
#include <iostream>
#include <memory>
#include <sstream>

#include "base/error.h"
#include "compute/cpu/gemm.h"
#include "compute/gradients.h"
#include "compute/program.h"
#include "nn/layers.h"
#include "nn/optimisers.h"

namespace agora::bench {
namespace {

using namespace agora::compute;
using nn::ExchangeableNet;
using nn::Mlp;

int64_t forced_lanes = 0;
bool list_plans = false;

double now_ms() {
  const auto time = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::milli>(time).count();
}

struct Work {
  std::function<void()> run;  // one outer iteration
  double flops = 0;           // of its matrix products, after simplification
};

std::vector<float> uniform_values(int64_t count, uint32_t stream) {
  std::vector<float> values(static_cast<size_t>(count));
  Rng rng(1, stream);
  for (float& value : values) value = rng.uniform32();
  return values;
}

// What a mechanism does with bids (rows, ..., n, m).
struct Outcome {
  Tensor allocation;  // (rows, ..., n, m)
  Tensor payment;     // (rows, ..., n)
};
using Mechanism = std::function<Outcome(Tensor bids)>;

Tensor identity(Graph& g, int64_t n, Shape shape) {
  std::vector<double> values(static_cast<size_t>(n * n));
  for (int64_t i = 0; i < n; ++i) values[static_cast<size_t>(i * n + i)] = 1;
  return g.constant(values, std::move(shape));
}

// Bidder i's misreport in row i of profile i: (rows, n, m) twice -> (rows, n, n, m).
Tensor misreport_profiles(Tensor values, Tensor misreports) {
  const int64_t n = values.size(1), m = values.size(2);
  return where(identity(*values.graph, n, {n, n, 1}), reshape(misreports, {kRows, n, 1, m}),
               reshape(values, {kRows, 1, n, m}));
}

// The utility of each bidder in its own misreport profile: (rows, n).
Tensor misreport_utilities(const Mechanism& mechanism, Tensor values, Tensor misreports) {
  const int64_t n = values.size(1), m = values.size(2);
  const Outcome outcome = mechanism(misreport_profiles(values, misreports));
  const Tensor own = identity(*values.graph, n, {n, n});
  const Tensor worth = sum(outcome.allocation * reshape(values, {kRows, 1, n, m}), {-1});
  return sum((worth - outcome.payment) * own, {-1});
}

// 25 steps of Adam on one bidder's misreport. A row is a profile and a bidder: `own` (rows, n)
// marks the bidder, `guess` (rows, m) is its misreport.
Tensor ascend(const Mechanism& mechanism, Tensor values, Tensor own, Tensor guess, double rate) {
  const int64_t n = values.size(1), m = values.size(2);
  const Tensor mine = reshape(own, {kRows, n, 1});
  const Tensor worth = sum(values * mine, {1});  // (rows, m)
  const Tensor zero = broadcast(guess.graph->constant(0), guess.shape());
  return repeat(25, {guess, zero, zero}, [&](const Tensors& state, Tensor step) -> Tensors {
    const Outcome outcome = mechanism(where(mine, reshape(state[0], {kRows, 1, m}), values));
    const Tensor won = sum(outcome.allocation * mine, {1});  // (rows, m)
    const Tensor utility = sum(won * worth, {-1}) - sum(outcome.payment * own, {-1});
    const Tensor slope = gradients(utility, {state[0]})[0];
    const Tensor first = 0.9 * state[1] + 0.1 * slope;
    const Tensor second = 0.999 * state[2] + 0.001 * square(slope);
    const Tensor scale =
        sqrt(1.0 - exp(step * std::log(0.999))) / (1.0 - exp(step * std::log(0.9)));
    const Tensor move = rate * reshape(scale, {kRows, 1}) * first / (sqrt(second) + 1e-8);
    return {clip(state[0] + move, 0, 1), first, second};
  })[0];
}

// Misreport ascent inside each tile, then one Adam step on the augmented Lagrangian.
Work lagrangian_work(const std::shared_ptr<Graph>& graph, const Mechanism& mechanism, int64_t n,
                     int64_t m, int64_t batch, double rate) {
  Graph& g = *graph;
  const Tensors parameters = g.parameters();
  const Tensor values = g.input("values", {kRows, n, m});
  const Tensor misreports = g.input("misreports", {kRows, n, m});
  const Tensor multipliers = g.input("multipliers", {n}), penalty = g.input("penalty", {});
  const Outcome truthful = mechanism(values);
  const Tensor utility = sum(truthful.allocation * values, {-1}) - truthful.payment;  // (rows, n)
  const Tensor gain = misreport_utilities(mechanism, values, misreports) - utility;
  const Tensor regret = mean(relu(gain), {0});  // (n)
  const Tensor revenue = mean(sum(truthful.payment, {-1}));
  const Tensor loss = -revenue + sum(multipliers * regret) + 0.5 * penalty * sum(square(regret));
  const auto updates = nn::Adam{}("adam", parameters, gradients(loss, parameters));

  const Tensor guess = g.input("guess", {kRows, m}), own = g.input("own", {kRows, n});
  const Tensor best = ascend(mechanism, g.input("profiles", {kRows, n, m}), own, guess, rate);

  auto variables = std::make_shared<Variables>(g);
  variables->initialize(7);
  auto inner = std::make_shared<Program>(g, *variables, Task{{{"best", best}}, {}},
                                         CompileOptions{.rows = batch * n, .lanes = forced_lanes});
  auto outer = std::make_shared<Program>(g, *variables, Task{{{"loss", loss}}, updates},
                                         CompileOptions{.rows = batch, .lanes = forced_lanes});
  if (list_plans) std::cerr << inner->listing() << outer->listing();
  const std::vector<float> drawn = uniform_values(batch * n * m, 1);
  std::vector<float> profiles, bidders;
  for (int64_t row = 0; row < batch; ++row) {
    for (int64_t i = 0; i < n; ++i) {
      profiles.insert(profiles.end(), drawn.begin() + row * n * m,
                      drawn.begin() + (row + 1) * n * m);
      for (int64_t k = 0; k < n; ++k) bidders.push_back(k == i ? 1.f : 0.f);
    }
  }
  inner->set("profiles", std::span<const float>(profiles));
  inner->set("own", std::span<const float>(bidders));
  outer->set("values", std::span<const float>(drawn));
  outer->set("multipliers", std::span<const float>(std::vector<float>(size_t(n), 5.f)));
  outer->set("penalty", 1.0);
  auto cached = std::make_shared<std::vector<float>>(uniform_values(batch * n * m, 2));
  return {[=] {
            inner->set("guess", std::span<const float>(*cached));
            inner->run();
            inner->read("best", std::span<float>(*cached));
            outer->set("misreports", std::span<const float>(*cached));
            outer->run();
            (void)graph;
            (void)variables;
          },
          inner->matmul_flops() + outer->matmul_flops()};
}

Work regretnet(int64_t n, int64_t m, int64_t hidden) {
  auto graph = std::make_shared<Graph>();
  std::vector<int64_t> sizes{n * m};
  sizes.insert(sizes.end(), static_cast<size_t>(hidden), 100);
  std::vector<int64_t> allocation_sizes = sizes, payment_sizes = sizes;
  allocation_sizes.push_back((n + 1) * (m + 1));
  payment_sizes.push_back(n);
  const Mlp allocation_net(*graph, "allocation", allocation_sizes);
  const Mlp payment_net(*graph, "payment", payment_sizes);
  const Mechanism mechanism = [=](Tensor bids) {
    Shape flat = bids.shape(), logits = bids.shape();
    flat.resize(flat.size() - 1);
    flat.back() = n * m;
    logits[logits.size() - 2] = n + 1;
    logits.back() = m + 1;
    const Tensor x = reshape(bids, flat);
    const Tensor shares = softmax(reshape(allocation_net(x), logits), -2);
    const Tensor allocation = slice(slice(shares, -2, 0, n), -1, 0, m);
    return Outcome{allocation, sigmoid(payment_net(x)) * sum(allocation * bids, {-1})};
  };
  return lagrangian_work(graph, mechanism, n, m, 128, 0.1);
}

Work equivariantnet(int64_t n, int64_t m) {
  auto graph = std::make_shared<Graph>();
  const std::vector<int64_t> channels{1, 25, 25, 25, 1};
  const ExchangeableNet q(*graph, "q", channels), h(*graph, "h", channels),
      p(*graph, "p", channels);
  const Mechanism mechanism = [=](Tensor bids) {
    Shape cells = bids.shape();
    cells.push_back(1);
    const Tensor x = reshape(bids, cells);  // (rows, ..., n, m, 1)
    const auto net = [&](const ExchangeableNet& it) { return reshape(it(x), bids.shape()); };
    const Tensor sold = sigmoid(mean(net(q), {-2}, Keep::kYes));
    const Tensor allocation = sold * softmax(net(h), -2);
    const Tensor fraction = sigmoid(mean(net(p), {-1}));
    return Outcome{allocation, fraction * sum(allocation * bids, {-1})};
  };
  return lagrangian_work(graph, mechanism, n, m, 500, 0.001);
}

// Bids as each bidder sees them, itself first: (rows, ..., n, m) -> (rows, ..., n, n * m).
Tensor seen_by_each(Tensor bids) {
  const int64_t n = bids.size(-2), m = bids.size(-1);
  Shape one = bids.shape();
  one[one.size() - 2] = 1;
  one.back() = n * m;
  Tensors views;
  for (int64_t i = 0; i < n; ++i) {
    Tensors order{slice(bids, -2, i, i + 1)};
    if (i > 0) order.push_back(slice(bids, -2, 0, i));
    if (i + 1 < n) order.push_back(slice(bids, -2, i + 1, n));
    views.push_back(reshape(concat(order, -2), one));
  }
  return concat(views, -2);
}

// 100 steps of the misreporter's parameters, then one of the auctioneer's (thesis, ch. 5).
Work algnet(int64_t n, int64_t m) {
  const int64_t batch = 500;
  auto graph = std::make_shared<Graph>();
  Graph& g = *graph;
  const std::vector<int64_t> to_items{n * m, 100, 100, 100, m}, to_one{n * m, 100, 100, 100, 1};
  const Mlp sold_net(g, "sold", to_items), split_net(g, "split", to_items),
      payment_net(g, "payment", to_one);
  const Tensors auctioneer = g.parameters();
  const Mlp misreporter_net(g, "misreporter", to_items);
  const Tensors all = g.parameters();
  const Tensors misreporter(all.begin() + static_cast<int64_t>(auctioneer.size()), all.end());

  const Tensor values = g.input("values", {kRows, n, m});
  const Tensor misreports = sigmoid(misreporter_net(seen_by_each(values)));  // (rows, n, m)

  const auto allocate = [&](Tensor bids, Tensor views) {
    Shape flat = bids.shape();
    flat[flat.size() - 2] = 1;
    flat.back() = n * m;
    const Tensor sold = sigmoid(sold_net(reshape(bids, flat)));  // (rows, ..., 1, m)
    return sold * softmax(split_net(views), -2);
  };
  // Bidder i's utility in its own misreport profile; only its payment is needed.
  const auto deviating = [&](Tensor reports) {
    const Tensor profiles = misreport_profiles(values, reports);  // (rows, n, n, m)
    const Tensor allocations = allocate(profiles, seen_by_each(profiles));
    const Tensor own = identity(g, n, {n, n, 1});
    const Tensor allocation = sum(allocations * own, {2});  // (rows, n, m)
    Tensors own_views;
    for (int64_t i = 0; i < n; ++i) {
      Tensors order{slice(reports, 1, i, i + 1)};
      if (i > 0) order.push_back(slice(values, 1, 0, i));
      if (i + 1 < n) order.push_back(slice(values, 1, i + 1, n));
      own_views.push_back(reshape(concat(order, 1), {kRows, 1, n * m}));
    }
    const Tensor fraction = reshape(sigmoid(payment_net(concat(own_views, 1))), {kRows, n});
    return sum(allocation * values, {-1}) - fraction * sum(allocation * reports, {-1});
  };

  const nn::Adam optimiser = nn::adam_w(nn::constant_rate(1e-3));
  const Tensor misreporter_loss = -mean(sum(deviating(misreports), {-1}));
  const auto misreporter_updates =
      optimiser("misreporter_adam", misreporter, gradients(misreporter_loss, misreporter));

  const Tensor views = seen_by_each(values);
  const Tensor allocation = allocate(values, views);
  const Tensor worth = sum(allocation * values, {-1});
  const Tensor payment = reshape(sigmoid(payment_net(views)), {kRows, n}) * worth;
  const Tensor gain = deviating(stop_gradient(misreports)) - (worth - payment);
  const Tensor revenue = mean(sum(payment, {-1}));
  const Tensor regret = mean(sum(relu(gain), {-1}));
  const Tensor loss = -(sqrt(revenue) - sqrt(regret + 1e-8)) + regret;
  const auto auctioneer_updates =
      optimiser("auctioneer_adam", auctioneer, gradients(loss, auctioneer));

  auto variables = std::make_shared<Variables>(g);
  variables->initialize(7);
  const CompileOptions options{.rows = batch, .lanes = forced_lanes};
  auto inner = std::make_shared<Program>(
      g, *variables, Task{{{"loss", misreporter_loss}}, misreporter_updates}, options);
  auto outer =
      std::make_shared<Program>(g, *variables, Task{{{"loss", loss}}, auctioneer_updates}, options);
  if (list_plans) std::cerr << inner->listing() << outer->listing();
  const std::vector<float> drawn = uniform_values(batch * n * m, 1);
  inner->set("values", std::span<const float>(drawn));
  outer->set("values", std::span<const float>(drawn));
  return {[graph, variables, inner, outer] {
            for (int step = 0; step < 100; ++step) inner->run();
            outer->run();
          },
          100 * inner->matmul_flops() + outer->matmul_flops()};
}

// The IMPALA network with 15 actions on 64x64 images, batch 256; an actor-critic loss.
Work impala(bool train) {
  const int64_t batch = 256;
  auto graph = std::make_shared<Graph>();
  Graph& g = *graph;
  const Tensor images = g.byte_input("images", {kRows, 64, 64, 3}, 1.0 / 255);
  const nn::Impala body(g, "impala", 64, 64);
  const nn::Dense actor(g, "actor", 256, 15), critic(g, "critic", 256, 1);
  const Tensor features = body(images);
  const Tensor logits = actor(features), value = reshape(critic(features), {kRows});
  const Tensor actions = g.index_input("actions", {kRows});
  const Tensor advantages = g.input("advantages", {kRows}), returns = g.input("returns", {kRows});
  const Tensor loss = -mean(categorical_log_prob(logits, actions) * advantages) +
                      0.5 * mean(square(value - returns)) -
                      0.01 * mean(categorical_entropy(logits));
  Task task;
  if (train) {
    const Tensors parameters = g.parameters();
    task.outputs = {{"loss", loss}};
    task.updates =
        nn::Adam{.rate = nn::constant_rate(5e-4)}("adam", parameters, gradients(loss, parameters));
  } else {
    task.outputs = {{"logits", logits}, {"value", value}};
  }
  auto variables = std::make_shared<Variables>(g);
  variables->initialize(7);
  auto program = std::make_shared<Program>(g, *variables, task,
                                           CompileOptions{.rows = batch, .lanes = forced_lanes});
  if (list_plans) std::cerr << program->listing();
  std::vector<uint8_t> pixels(static_cast<size_t>(batch * 64 * 64 * 3));
  Rng rng(2);
  for (uint8_t& pixel : pixels) pixel = static_cast<uint8_t>(rng.below(256));
  std::vector<int32_t> chosen(static_cast<size_t>(batch));
  for (int32_t& action : chosen) action = static_cast<int32_t>(rng.below(15));
  program->set("images", std::span<const uint8_t>(pixels));
  program->set("actions", std::span<const int32_t>(chosen));
  program->set("advantages", std::span<const float>(uniform_values(batch, 3)));
  program->set("returns", std::span<const float>(uniform_values(batch, 4)));
  return {[graph, variables, program] { program->run(); }, program->matmul_flops()};
}

// What the machine's matrix product reaches on operands in cache, all threads together.
double peak_gflops() {
  const int64_t size = 128, repetitions = 200;
  const int64_t parts = default_pool().threads();
  std::vector<float> memory(static_cast<size_t>(3 * size * size * parts), 0.5f);
  double best = 0;
  for (int attempt = 0; attempt < 5; ++attempt) {
    const double start = now_ms();
    default_pool().run(parts, [&](int64_t part) {
      float* const a = memory.data() + part * 3 * size * size;
      const cpu::Gemm<float> job{
          size, size, size, a, size, 1, a + size * size, size, a + 2 * size * size, size};
      for (int64_t k = 0; k < repetitions; ++k) cpu::gemm(job);
    });
    const double flops = 2.0 * size * size * size * static_cast<double>(repetitions * parts);
    best = std::max(best, flops / (now_ms() - start) / 1e6);
  }
  return best;
}

const std::vector<std::pair<std::string, std::function<Work()>>>& works() {
  static const std::vector<std::pair<std::string, std::function<Work()>>> all{
      {"regretnet-1x2", [] { return regretnet(1, 2, 2); }},
      {"regretnet-2x2", [] { return regretnet(2, 2, 2); }},
      {"regretnet-3x10", [] { return regretnet(3, 10, 5); }},
      {"equivariantnet-1x2", [] { return equivariantnet(1, 2); }},
      {"equivariantnet-2x2", [] { return equivariantnet(2, 2); }},
      {"equivariantnet-4x5", [] { return equivariantnet(4, 5); }},
      {"algnet-1x2", [] { return algnet(1, 2); }},
      {"algnet-2x2", [] { return algnet(2, 2); }},
      {"algnet-3x10", [] { return algnet(3, 10); }},
      {"impala-forward", [] { return impala(false); }},
      {"impala-train", [] { return impala(true); }},
  };
  return all;
}

Work make_work(const std::string& name) {
  std::vector<std::string> names;
  for (const auto& [known, make] : works()) {
    if (known == name) return make();
    names.push_back(known);
  }
  throw user_error("unknown work '{}'{}", name, suggestion(name, names));
}

std::vector<double> time_work(const Work& work, int64_t repetitions) {
  std::vector<double> times;
  for (int64_t k = 0; k < repetitions; ++k) {
    const double start = now_ms();
    work.run();
    times.push_back(now_ms() - start);
  }
  return times;
}

void serve() {
  std::vector<std::pair<std::string, Work>> made;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string name;
    int64_t repetitions = 1;
    words >> name >> repetitions;
    if (name == "peak") {
      fmt::print("{{\"work\": \"peak\", \"gflops\": {}}}\n", peak_gflops());
      std::fflush(stdout);
      continue;
    }
    auto known =
        std::find_if(made.begin(), made.end(), [&](const auto& it) { return it.first == name; });
    if (known == made.end()) {
      made.emplace_back(name, make_work(name));
      known = made.end() - 1;
      known->second.run();
    }
    std::string list;
    for (const double ms : time_work(known->second, repetitions)) {
      list += fmt::format("{}{}", list.empty() ? "" : ", ", ms);
    }
    fmt::print("{{\"work\": \"{}\", \"ms\": [{}], \"flops\": {}}}\n", name, list,
               known->second.flops);
    std::fflush(stdout);
  }
}

void print_all(std::vector<std::string> names) {
  if (names.empty()) {
    for (const auto& [name, make] : works()) names.push_back(name);
  }
  const double peak = peak_gflops();
  fmt::print("{} threads, matmul peak {:.1f} GFLOP/s\n", default_pool().threads(), peak);
  for (const std::string& name : names) {
    const Work work = make_work(name);
    const double first = time_work(work, 1)[0];
    std::vector<double> times = time_work(work, std::clamp<int64_t>(int64_t(1000 / first), 3, 300));
    std::sort(times.begin(), times.end());
    const double ms = times[times.size() / 2];
    fmt::print("{:20} {:9.3f} ms  {:7.1f} GFLOP/s  {:4.0f} % of peak\n", name, ms,
               work.flops / ms / 1e6, 100 * work.flops / ms / 1e6 / peak);
    std::fflush(stdout);
  }
}

int run(int count, char** arguments) {
  std::vector<std::string> names;
  bool serving = false;
  for (int k = 1; k < count; ++k) {
    const std::string word = arguments[k];
    if (word == "--serve") {
      serving = true;
    } else if (word == "--list") {
      list_plans = true;
    } else if ((word == "--threads" || word == "--lanes") && k + 1 < count) {
      const int value = std::atoi(arguments[++k]);
      if (value < 1) throw user_error("{}: expected a positive number", word);
      if (word == "--threads") {
        set_default_threads(value);
      } else {
        forced_lanes = value;
      }
    } else {
      names.push_back(word);
    }
  }
  if (serving) {
    serve();
  } else {
    print_all(names);
  }
  return 0;
}

}  // namespace
}  // namespace agora::bench

int main(int count, char** arguments) {
  try {
    return agora::bench::run(count, arguments);
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_compute: {}\n", error.what());
    return 2;
  }
}
