// The C++ side of tests/scripts/compare_layers.py: `layers_peer FOLDER` writes, for each layer, its
// inputs, parameters, output and the gradients of sum(output * probe) to FOLDER/NAME.safetensors.
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/rng.h"
#include "base/safetensors.h"
#include "compute/gradients.h"
#include "compute/program.h"
#include "nn/layers.h"

namespace {

using namespace agora;
using compute::kRows;
using compute::Shape;
using compute::Tensor;
using compute::Tensors;

constexpr int64_t kBatch = 5;

struct Layer {
  std::string name;
  std::vector<Shape> inputs;
  std::function<Tensor(compute::Graph&, const Tensors&)> build;
};

std::vector<Layer> layers() {
  return {
      {"dense",
       {{kRows, 7}},
       [](auto& graph, const Tensors& in) { return nn::Dense(graph, "layer", 7, 25)(in[0]); }},
      {"mlp",
       {{kRows, 6}},
       [](auto& graph, const Tensors& in) {
         return nn::Mlp(graph, "layer", {6, 100, 30, 3}, nn::xavier_uniform(nn::kTanhGain))(in[0]);
       }},
      {"exchangeable",
       {{kRows, 3, 4, 2}},
       [](auto& graph, const Tensors& in) {
         return nn::Exchangeable(graph, "layer", 2, 25)(in[0]);
       }},
      {"convolution",
       {{kRows, 9, 6, 3}},
       [](auto& graph, const Tensors& in) {
         return nn::Conv3x3(graph, "layer", 3, 16, nn::he_normal())(in[0]);
       }},
      {"pool",
       {{kRows, 9, 6, 3}},
       [](auto&, const Tensors& in) { return compute::max_pool(in[0]); }},
      {"residual",
       {{kRows, 4, 5, 16}},
       [](auto& graph, const Tensors& in) { return nn::ResidualBlock(graph, "layer", 16)(in[0]); }},
      {"impala",
       {{kRows, 16, 16, 3}},
       [](auto& graph, const Tensors& in) { return nn::Impala(graph, "layer", 16, 16)(in[0]); }},
      {"gru",
       {{kRows, 4}, {kRows, 10}},
       [](auto& graph, const Tensors& in) {
         return nn::GruCell(graph, "layer", 4, 10)(in[0], in[1]);
       }},
  };
}

std::vector<float> random_values(int64_t count, Rng& rng) {
  std::vector<float> values(static_cast<size_t>(count));
  for (float& value : values) value = static_cast<float>(rng.uniform(-1, 1));
  return values;
}

void write(const std::filesystem::path& folder, const Layer& layer) {
  compute::Graph graph;
  Tensors inputs;
  for (size_t i = 0; i < layer.inputs.size(); ++i) {
    inputs.push_back(graph.input("in" + std::to_string(i), layer.inputs[i]));
  }
  const Tensor output = layer.build(graph, inputs);
  const Tensor probe = graph.input("probe", output.shape());
  Tensors wrt = inputs;
  for (Tensor param : graph.parameters()) wrt.push_back(param);
  const Tensors grads = compute::gradients(sum(output * probe), wrt);
  compute::Variables variables(graph);
  variables.initialize(3);
  Rng rng(4);
  for (Tensor param : graph.parameters()) {  // biases too, which start at zero
    variables.set(param.node().name,
                  std::span<const float>(random_values(variables.count(param.node().name), rng)));
  }
  compute::Computation task{.outputs = {{"output", output}}, .updates = {}};
  for (size_t i = 0; i < wrt.size(); ++i) {
    task.outputs.push_back({"gradient." + wrt[i].node().name, grads[i]});
  }
  compute::Program program(graph, variables, task, {.rows = kBatch});
  TensorFile file;
  const auto put = [&](const std::string& name, Shape shape, const std::vector<float>& values) {
    if (compute::is_row_local(shape)) shape[0] = kBatch;
    file.tensors.push_back(StoredTensor::of<float>(name, shape, values));
  };
  const auto set_input = [&](Tensor input) {
    const auto values = random_values(kBatch * compute::feature_count(input.shape()), rng);
    program.set(input.node().name, std::span<const float>(values));
    put(input.node().name, input.shape(), values);
  };
  for (Tensor input : inputs) set_input(input);
  set_input(probe);
  program.run();
  const auto put_output = [&](const std::string& name, Tensor value) {
    std::vector<float> values(static_cast<size_t>(program.count(name)));
    program.read(name, std::span<float>(values));
    put(name, value.shape(), values);
  };
  put_output("output", output);
  for (size_t i = 0; i < wrt.size(); ++i) put_output("gradient." + wrt[i].node().name, grads[i]);
  for (Tensor param : graph.parameters()) {
    const auto values = variables.get(param.node().name);
    put("parameter." + param.node().name, param.shape(), {values.begin(), values.end()});
  }
  write_safetensors(folder / (layer.name + ".safetensors"), file);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  for (const Layer& layer : layers()) write(argv[1], layer);
}
