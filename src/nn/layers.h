#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "compute/operations.h"
#include "nn/initialisers.h"

// Layers declare their parameters in a graph under `name.` and are then functions of tensors.
namespace agora::nn {

using compute::Graph;
using compute::Tensor;
using compute::Tensors;

struct Dense {
  Dense(Graph& graph, std::string_view name, int64_t in, int64_t out,
        const Initializer& initial = glorot_uniform());
  Tensor operator()(Tensor x) const;  // (..., in) -> (..., out)
  Tensor weight;                      // (in, out)
  Tensor bias;                        // (out)
};

// Fully connected layers with an activation between them; the last one is linear.
using Activation = Tensor (*)(Tensor);
struct Mlp {
  // sizes: inputs, hidden widths, outputs.
  Mlp(Graph& graph, std::string_view name, const std::vector<int64_t>& sizes,
      const Initializer& initial = glorot_uniform(), Activation activation = compute::tanh);
  Tensor operator()(Tensor x) const;
  std::vector<Dense> layers;
  Activation activation;
};

// Exchangeable matrix layer (thesis, eq. mult_channel, before its activation):
// y(i, j) = own x(i, j) + column mean_i' x(i', j) + row mean_j' x(i, j') + total mean x + bias.
struct Exchangeable {
  Exchangeable(Graph& graph, std::string_view name, int64_t in, int64_t out);
  Tensor operator()(Tensor x) const;  // (..., n, m, in) -> (..., n, m, out)
  Tensor own, column, row, total;     // (in, out) each
  Tensor bias;                        // (out)
};

// Exchangeable layers with tanh between them; the last one is linear.
struct ExchangeableNet {
  ExchangeableNet(Graph& graph, std::string_view name, const std::vector<int64_t>& channels);
  Tensor operator()(Tensor x) const;
  std::vector<Exchangeable> layers;
};

struct Conv3x3 {
  Conv3x3(Graph& graph, std::string_view name, int64_t in, int64_t out,
          const Initializer& initial = glorot_uniform());
  Tensor operator()(Tensor x) const;  // (rows, h, w, in) -> (rows, h, w, out)
  Tensor weight;                      // (3, 3, in, out)
  Tensor bias;                        // (out)
};

// x + conv(relu(conv(relu(x)))).
struct ResidualBlock {
  ResidualBlock(Graph& graph, std::string_view name, int64_t channels);
  Tensor operator()(Tensor x) const;
  Conv3x3 first, second;
};

// IMPALA's image network: for each entry of `channels` a convolution, a max-pool and two residual
// blocks; then ReLU, a dense layer and ReLU. Images are already scaled to [0, 1].
struct Impala {
  Impala(Graph& graph, std::string_view name, int64_t height, int64_t width, int64_t in = 3,
         const std::vector<int64_t>& channels = {16, 32, 32}, int64_t features = 256);
  Tensor operator()(Tensor images) const;  // (rows, height, width, in) -> (rows, features)
  struct Stack {
    Conv3x3 conv;
    ResidualBlock first, second;
  };
  std::vector<Stack> stacks;
  std::vector<Dense> dense;  // one
};

// Gated recurrent unit with the equations and gate order (reset, update, new) of PyTorch.
struct GruCell {
  GruCell(Graph& graph, std::string_view name, int64_t in, int64_t hidden);
  Tensor operator()(Tensor x, Tensor h) const;  // (rows, in), (rows, hidden) -> (rows, hidden)
  Dense from_input, from_hidden;                // (in, 3 hidden), (hidden, 3 hidden)
  int64_t hidden;
};

}  // namespace agora::nn
