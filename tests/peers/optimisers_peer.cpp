// The C++ side of tests/scripts/compare_optimisers.py: `optimisers_peer FOLDER` trains a small MLP
// for 100 steps with each optimiser and writes data, first and last parameters to
// FOLDER/NAME-TYPE.safetensors.
#include <filesystem>
#include <string>
#include <vector>

#include "base/rng.h"
#include "base/safetensors.h"
#include "compute/gradients.h"
#include "compute/program.h"
#include "nn/layers.h"
#include "nn/optimisers.h"

namespace {

using namespace agora;
using compute::kRows;

constexpr int64_t kBatch = 48, kSteps = 100;

struct Trial {
  std::string name;
  std::function<nn::Updates(const compute::Tensors&, const compute::Tensors&)> updates;
};

std::vector<Trial> trials() {
  const auto plain = [](auto optimiser) {
    return [=](const compute::Tensors& params, const compute::Tensors& grads) {
      return optimiser("optimiser", params, grads);
    };
  };
  const nn::Adam scheduled = nn::adam_w(nn::linear_rate(1e-2, 1e-3, 60), 0.1);
  return {{"sgd", plain(nn::Sgd{.rate = nn::constant_rate(0.05)})},
          {"sgd-momentum",
           plain(nn::Sgd{.rate = nn::constant_rate(0.02), .momentum = 0.9, .weight_decay = 0.01})},
          {"adam", plain(nn::Adam{.rate = nn::constant_rate(1e-3)})},
          {"adamw", plain(nn::adam_w(nn::constant_rate(1e-3), 0.1))},
          {"adamw-clipped-scheduled",
           [=](const compute::Tensors& params, const compute::Tensors& grads) {
             return scheduled("optimiser", params, nn::clip_by_global_norm(grads, 0.05));
           }}};
}

void train(const std::filesystem::path& folder, const Trial& trial, compute::Type type) {
  compute::Graph graph;
  const compute::Tensor x = graph.input("x", {kRows, 3}),
                        target = graph.input("target", {kRows, 2});
  const nn::Mlp mlp(graph, "mlp", {3, 17, 9, 2});
  const compute::Tensor loss = mean(square(mlp(x) - target));
  const compute::Tensors params = graph.parameters();
  const nn::Updates updates = trial.updates(params, compute::gradients(loss, params));
  compute::Variables variables(graph, type);
  variables.initialize(11);
  compute::Program step(graph, variables, {.outputs = {{"loss", loss}}, .updates = updates},
                        {.rows = kBatch});
  Rng rng(5);
  std::vector<double> inputs(kBatch * 3), targets(kBatch * 2);
  for (double& value : inputs) value = static_cast<float>(rng.uniform(-1, 1));
  for (double& value : targets) value = static_cast<float>(rng.uniform(-1, 1));
  TensorFile file;
  const auto put = [&](const std::string& name, const compute::Shape& shape,
                       const std::vector<double>& values) {
    file.tensors.push_back(StoredTensor::of<double>(name, shape, values));
  };
  put("x", {kBatch, 3}, inputs);
  put("target", {kBatch, 2}, targets);
  const auto put_parameters = [&](const std::string& when) {
    for (const compute::Tensor& param : params) {
      put(when + "." + param.node().name, param.shape(), variables.get(param.node().name));
    }
  };
  put_parameters("first");
  for (int64_t i = 0; i < kSteps; ++i) {
    step.set("x", inputs);
    step.set("target", targets);
    step.run();
  }
  put_parameters("last");
  const char* suffix = type == compute::Type::kFloat32 ? "float32" : "float64";
  write_safetensors(folder / (trial.name + "-" + suffix + ".safetensors"), file);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  for (const Trial& trial : trials()) {
    for (compute::Type type : {compute::Type::kFloat32, compute::Type::kFloat64}) {
      train(argv[1], trial, type);
    }
  }
}
