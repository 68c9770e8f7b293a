// One outer iteration of each training of the thesis as programs of the compute core, and each
// operation of the table with its gradient on 4,096 rows (op-NAME).
//
//   bench_compute [--threads N] [--lanes N] [--list] [WORK...]
//   bench_compute --serve --threads N     answers each line `WORK REPS` by one line of JSON
#include <memory>

#include "auctions/algnet.h"
#include "auctions/training/common.h"
#include "auctions/training/misreporter.h"
#include "bench/works.h"
#include "compute/gradients.h"
#include "compute/operation.h"
#include "nn/layers.h"

namespace agora::bench {
namespace {

using namespace agora::compute;
using auctions::Architecture;

int64_t forced_lanes = 0;
bool list_plans = false;
std::string device = "cpu";

std::vector<float> uniform_values(int64_t count, uint32_t stream) {
  std::vector<float> values(static_cast<size_t>(count));
  Rng rng(1, stream);
  for (float& value : values) value = rng.uniform32();
  return values;
}

Architecture architecture(int n, int m, int hidden, int width) {
  return {n, m, hidden, width, {0.0}, {1.0}, false};
}

// 25 steps of misreport ascent inside each tile, then one Adam step on the augmented Lagrangian.
Work lagrangian_work(const std::string& mechanism, const Architecture& shape, int64_t batch,
                     double rate) {
  const int64_t n = shape.bidders, m = shape.items;
  auto graph = std::make_shared<Graph>();
  Graph& g = *graph;
  const auctions::Network network = auctions::mechanism_kind(mechanism).network->record(g, shape);
  const Tensors parameters = g.parameters();
  const auctions::MechanismStep step = auctions::mechanism_step(g, network, shape);
  const Tensor multipliers = g.input("multipliers", {n}), penalty = g.input("penalty", {});
  const Tensor loss =
      -step.revenue + sum(multipliers * step.regret) + 0.5 * penalty * sum(square(step.regret));
  const auto updates = nn::Adam{}("adam", parameters, gradients(loss, parameters));
  const std::vector<double> zeros(static_cast<size_t>(n * m), 0.0), ones(zeros.size(), 1.0);
  const Tensor best = auctions::ascend(
      network, g.input("profiles", {kRows, n, m}), g.input("own", {kRows, n}),
      g.input("guess", {kRows, 1, m}),
      {.rate = rate, .final_rate = rate, .low = zeros, .high = ones, .range = ones});

  auto variables = std::make_shared<Variables>(g);
  variables->initialize(7);
  auto inner = std::make_shared<Program>(
      g, *variables, Computation{{{"best", best}}, {}},
      CompileOptions{.rows = batch * n, .cpu = {.lanes = forced_lanes}, .short_products = true});
  auto outer =
      std::make_shared<Program>(g, *variables, Computation{{{"loss", loss}}, updates},
                                CompileOptions{.rows = batch, .cpu = {.lanes = forced_lanes}});
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
  auto cached = std::make_shared<DeviceArray>(batch * n * m);
  auto found = std::make_shared<DeviceArray>(batch * n * m);
  cached->set(std::span<const float>(uniform_values(batch * n * m, 2)));
  inner->bind("guess", *cached);
  inner->bind("best", *found);
  outer->bind("misreports", *found);
  return {[=] {
            inner->run();
            outer->run();
            cached->copy(*found);
            (void)graph;
            (void)variables;
            return Answer{};
          },
          inner->matmul_flops() + outer->matmul_flops()};
}

Work regretnet(int n, int m, int hidden) {
  return lagrangian_work("regretnet", architecture(n, m, hidden, 100), 128, 0.1);
}

Work equivariantnet(int n, int m) {
  return lagrangian_work("equivariantnet", architecture(n, m, 3, 25), 500, 0.001);
}

// 100 steps of the misreporter's parameters, then one of the auctioneer's (thesis, ch. 5).
Work algnet(int n, int m) {
  const int64_t batch = 500;
  const Architecture shape = architecture(n, m, 3, 100);
  auto graph = std::make_shared<Graph>();
  Graph& g = *graph;
  const auctions::Auctioneer auctioneer(g, shape);
  const Tensors weights = g.parameters();
  const auctions::Misreporter misreporter(g, shape, auctions::setting(fmt::format("{}x{}", n, m)));
  const Tensors all = g.parameters();
  const Tensors liars(all.begin() + static_cast<int64_t>(weights.size()), all.end());

  const Tensor values = g.input("values", {kRows, n, m});
  const Tensor misreports = misreporter(values);
  const nn::Adam optimiser = nn::adam_w(nn::constant_rate(1e-3));
  const Tensor misreporter_loss =
      -mean(sum(auctioneer.deviating_utility(values, misreports), {-1}));
  const auto misreporter_updates =
      optimiser("misreporter_adam", liars,
                scaled_gradients(misreporter_loss, liars, auctions::kMisreporterScale));

  const auctions::Decision decision = auctioneer(values);
  const Tensor paid = payments(decision, values);
  const Tensor utility = sum(decision.allocation * values, {-1}) - paid;
  const Tensor gain = auctioneer.deviating_utility(values, stop_gradient(misreports)) - utility;
  const Tensor revenue = mean(sum(paid, {-1})), regret = mean(sum(relu(gain), {-1}));
  const Tensor loss = -(sqrt(revenue) - sqrt(regret + 1e-8)) + regret;
  const auto updates = optimiser("auctioneer_adam", weights, gradients(loss, weights));

  auto variables = std::make_shared<Variables>(g);
  variables->initialize(7);
  const CompileOptions options{.rows = batch, .cpu = {.lanes = forced_lanes}};
  CompileOptions search = options;
  search.short_products = true;
  auto inner = std::make_shared<Program>(
      g, *variables, Computation{{{"loss", misreporter_loss}}, misreporter_updates}, search);
  auto outer =
      std::make_shared<Program>(g, *variables, Computation{{{"loss", loss}}, updates}, options);
  if (list_plans) std::cerr << inner->listing() << outer->listing();
  const std::vector<float> drawn = uniform_values(batch * n * m, 1);
  inner->set("values", std::span<const float>(drawn));
  outer->set("values", std::span<const float>(drawn));
  return {[graph, variables, inner, outer] {
            inner->repeat(100);
            outer->run();
            return Answer{};
          },
          100 * inner->matmul_flops() + outer->matmul_flops()};
}

// The IMPALA network with 15 actions on 64x64 images; an actor-critic loss.
Work impala(bool train, int64_t batch) {
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
  Computation task;
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
  auto program = std::make_shared<Program>(
      g, *variables, task, CompileOptions{.rows = batch, .cpu = {.lanes = forced_lanes}});
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
  return {[graph, variables, program, train, values = std::vector<float>(size_t(batch))]() mutable {
            program->run();
            if (!train) program->read("value", std::span<float>(values));
            return Answer{};
          },
          program->matmul_flops(), static_cast<double>(batch)};
}

// One operation of the table and its gradient on its first example: "tanh".
Work operation_work(const Operation& operation) {
  constexpr int64_t kBatch = 4096;
  auto graph = std::make_shared<Graph>();
  const Example& example = operation.examples.front();
  Tensors inputs, wrt;
  for (const Example::Input& input : example.inputs) {
    const std::string name = "x" + std::to_string(inputs.size());
    inputs.push_back(input.classes > 0 ? graph->index_input(name, input.shape)
                                       : graph->input(name, input.shape));
    if (input.classes == 0) wrt.push_back(inputs.back());
  }
  const Tensor value = record(operation.op, inputs, example.ints, example.told);
  Computation task{.outputs = {{"value", value}}, .updates = {}};
  if (operation.gradient != nullptr) {
    for (const Tensor& slope : gradients(sum(square(value)), wrt)) {
      task.outputs.push_back({"d" + std::to_string(task.outputs.size()), slope});
    }
  }
  auto variables = std::make_shared<Variables>(*graph);
  auto program = std::make_shared<Program>(
      *graph, *variables, task, CompileOptions{.rows = kBatch, .cpu = {.lanes = forced_lanes}});
  if (list_plans) std::cerr << program->listing();
  for (size_t k = 0; k < inputs.size(); ++k) {
    const Example::Input& input = example.inputs[k];
    std::vector<float> values = uniform_values(
        feature_count(input.shape) * (is_row_local(input.shape) ? kBatch : 1), uint32_t(k));
    const std::string name = "x" + std::to_string(k);
    if (input.classes > 0) {
      std::vector<int32_t> indices;
      for (const float v : values)
        indices.push_back(static_cast<int32_t>(v * float(input.classes)));
      program->set(name, std::span<const int32_t>(indices));
      continue;
    }
    for (float& v : values) v = static_cast<float>(input.low + v * (input.high - input.low));
    program->set(name, std::span<const float>(values));
  }
  return {[graph, variables, program] {
            program->run();
            return Answer{};
          },
          program->matmul_flops()};
}

const Works& works() {
  static const Works trainings{
      {"regretnet-1x2", [] { return regretnet(1, 2, 2); }},
      {"regretnet-2x2", [] { return regretnet(2, 2, 2); }},
      {"regretnet-3x10", [] { return regretnet(3, 10, 5); }},
      {"regretnet-5x10", [] { return regretnet(5, 10, 5); }},
      {"equivariantnet-1x2", [] { return equivariantnet(1, 2); }},
      {"equivariantnet-2x2", [] { return equivariantnet(2, 2); }},
      {"equivariantnet-4x5", [] { return equivariantnet(4, 5); }},
      {"algnet-1x2", [] { return algnet(1, 2); }},
      {"algnet-2x2", [] { return algnet(2, 2); }},
      {"algnet-3x10", [] { return algnet(3, 10); }},
      {"algnet-5x10", [] { return algnet(5, 10); }},
      {"impala-forward", [] { return impala(false, 256); }},
      {"impala-train", [] { return impala(true, 256); }},
      {"impala-forward-16", [] { return impala(false, 16); }},
      {"impala-forward-32", [] { return impala(false, 32); }},
      {"impala-forward-64", [] { return impala(false, 64); }},
      {"impala-forward-1024", [] { return impala(false, 1024); }},
      {"impala-forward-2048", [] { return impala(false, 2048); }},
      {"impala-train-512", [] { return impala(true, 512); }},
      {"impala-train-2048", [] { return impala(true, 2048); }},
  };
  static const Works all = [] {
    Works made = trainings;
    for (const Operation& it : operations()) {
      if (it.examples.empty()) continue;
      std::string name = std::string("op-") + it.name;
      std::replace(name.begin(), name.end(), ' ', '-');
      made.emplace_back(name, [&it] { return operation_work(it); });
    }
    return made;
  }();
  return all;
}

}  // namespace
}  // namespace agora::bench

int main(int count, char** arguments) {
  using namespace agora::bench;
  return run_program(
      count, arguments,
      [](agora::cli::OptionList& app) {
        app.flag("--list", list_plans, "Print the compiled programs");
        app.add("--device", device, "cpu or cuda").check(agora::cli::one_of({"cpu", "cuda"}));
        app.add("--lanes", forced_lanes, "Rows of a tile").check(agora::cli::between(1, 65'536));
      },
      [](const Asked& asked) {
        agora::compute::set_default_device(agora::compute::device_named(device));
        answer(works(), asked);
      });
}
