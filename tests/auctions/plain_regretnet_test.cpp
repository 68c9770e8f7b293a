// RegretNets as public code leaves them, against a forward pass in plain loops.
#include <gtest/gtest.h>

#include <cmath>

#include "auctions/mechanism.h"
#include "base/rng.h"
#include "base/safetensors.h"
#include "support/scratch.h"

namespace agora::auctions {
namespace {

using Vector = std::vector<double>;

struct Dense {
  int64_t in, out;
  Vector weight, bias;  // weight (out, in), as PyTorch keeps it

  Dense(int64_t inputs, int64_t outputs, Rng& rng)
      : in(inputs), out(outputs), weight(in * out), bias(out) {
    for (double& each : weight) each = 4 * rng.uniform() - 2;
    for (double& each : bias) each = 2 * rng.uniform() - 1;
  }
  Vector operator()(const Vector& x) const {
    Vector y = bias;
    for (int64_t b = 0; b < out; ++b) {
      for (int64_t a = 0; a < in; ++a) y[b] += weight[b * in + a] * x[a];
    }
    return y;
  }
};

Vector through(const std::vector<Dense>& layers, Vector x) {
  for (size_t k = 0; k < layers.size(); ++k) {
    x = layers[k](x);
    for (double& each : x) each = k + 1 < layers.size() ? std::tanh(each) : each;
  }
  return x;
}

std::vector<Dense> net(const Vector& sizes, uint64_t seed) {
  Rng rng(seed);
  std::vector<Dense> layers;
  for (size_t k = 0; k + 1 < sizes.size(); ++k) {
    layers.emplace_back(static_cast<int64_t>(sizes[k]), static_cast<int64_t>(sizes[k + 1]), rng);
  }
  return layers;
}

// Layers with a number left out after each, as activations take one.
void add(TensorFile& file, const std::string& name, const std::vector<Dense>& layers,
         bool transposed = true) {
  for (size_t k = 0; k < layers.size(); ++k) {
    const Dense& layer = layers[k];
    Vector weight = layer.weight;
    std::vector<int64_t> shape{layer.out, layer.in};
    if (!transposed) {
      shape = {layer.in, layer.out};
      for (int64_t a = 0; a < layer.in; ++a) {
        for (int64_t b = 0; b < layer.out; ++b) {
          weight[a * layer.out + b] = layer.weight[b * layer.in + a];
        }
      }
    }
    const std::string stem = name + "." + std::to_string(2 * k);
    file.tensors.push_back(StoredTensor::of<double>(stem + ".weight", shape, weight));
    file.tensors.push_back(StoredTensor::of<double>(stem + ".bias", {layer.out}, layer.bias));
  }
}

// The logits have n + 1 rows, the last for nobody, and m or m + 1 columns.
void expect_outcome(const Mechanism& mechanism, int n, int m, int columns,
                    const std::vector<Dense>& allocation, const std::vector<Dense>& payment) {
  ASSERT_EQ(mechanism.bidders(), n);
  ASSERT_EQ(mechanism.items(), m);
  Rng rng(77);
  for (int trial = 0; trial < 20; ++trial) {
    Vector bids(static_cast<size_t>(n) * m);
    for (double& bid : bids) bid = rng.uniform();
    const Vector logits = through(allocation, bids), fractions = through(payment, bids);
    const Outcome found = run(mechanism, bids);
    Vector worth(n);
    for (int j = 0; j < m; ++j) {
      double total = 0;
      for (int i = 0; i <= n; ++i) total += std::exp(logits[i * columns + j]);
      for (int i = 0; i < n; ++i) {
        const double share = std::exp(logits[i * columns + j]) / total;
        EXPECT_NEAR(found.allocation[i * m + j], share, 2e-6);
        worth[i] += share * bids[i * m + j];
      }
    }
    for (int i = 0; i < n; ++i) {
      EXPECT_NEAR(found.payments[i], worth[i] / (1 + std::exp(-fractions[i])), 4e-6);
    }
  }
}

TEST(PlainRegretNet, HasLogitsForEachItemAndNobody) {
  const Scratch scratch;
  const std::string path = (scratch / "net.safetensors").string();
  for (const int columns : {3, 4}) {
    for (const bool transposed : {true, false}) {
      const auto allocation = net({6, 7, 7, 3.0 * columns}, 1), payment = net({6, 7, 7, 2}, 2);
      TensorFile file;
      add(file, "allocation", allocation, transposed);
      add(file, "payment", payment, transposed);
      write_safetensors(path, file);
      expect_outcome(*load(path), 2, 3, columns, allocation, payment);
    }
  }
}

TEST(PlainRegretNet, NetworksDifferInDepthAndWidth) {
  const Scratch scratch;
  const std::string path = (scratch / "net.safetensors").string();
  const auto allocation = net({4, 5, 9, 3, 6}, 3), payment = net({4, 11, 2}, 4);
  TensorFile file;
  add(file, "allocation_head", allocation);
  add(file, "payment_head", payment);
  write_safetensors(path, file);
  const auto mechanism = load(path);
  expect_outcome(*mechanism, 2, 2, 2, allocation, payment);
  const std::string ours = (scratch / "ours.safetensors").string();
  save(*mechanism, ours);
  expect_outcome(*load(ours), 2, 2, 2, allocation, payment);
}

TEST(PlainRegretNet, NetworksShareTheirFirstLayers) {
  const Scratch scratch;
  const std::string path = (scratch / "net.safetensors").string();
  const auto shared = net({4, 8, 5}, 5);
  auto allocation = net({5, 6}, 6), payment = net({5, 2}, 7);
  TensorFile file;
  add(file, "nn_model", shared);
  add(file, "allocation_head", allocation);
  add(file, "payment_head", payment);
  write_safetensors(path, file);
  allocation.insert(allocation.begin(), shared.begin(), shared.end());
  payment.insert(payment.begin(), shared.begin(), shared.end());
  expect_outcome(*load(path), 2, 2, 2, allocation, payment);
}

TEST(PlainRegretNet, ShapesThatAreNoneAreRefused) {
  const Scratch scratch;
  const std::string path = (scratch / "net.safetensors").string();
  const auto refused = [&](const std::vector<Dense>& allocation, const std::vector<Dense>& payment,
                           const std::string& told) {
    TensorFile file;
    add(file, "allocation", allocation);
    add(file, "payment", payment);
    write_safetensors(path, file);
    expect_user_error([&] { load(path); }, {"net.safetensors", told});
  };
  refused(net({4, 8, 7}, 1), net({4, 8, 2}, 2), "found 4, 7 and 2");
  refused(net({5, 8, 6}, 1), net({5, 8, 2}, 2), "found 5, 6 and 2");
  refused(net({4, 8, 6}, 1), net({2, 8, 2}, 2), "found 4, 6 and 2");
  refused(net({4, 6}, 1), net({4, 8, 2}, 2), "a RegretNet's tensors 'allocation.K.weight'");
}

TEST(Storage, TellsHowFilesOfOthersBecomeOurs) {
  for (const char* file : {"net.pt", "runs/net.pth"}) {
    expect_user_error([&] { load(file); }, {file, "PyTorch", "save_file", "'net.safetensors'"});
  }
  for (const char* file : {"net.h5", "net.keras", "net.ckpt"}) {
    expect_user_error([&] { load(file); },
                      {file, "TensorFlow", "allocation.K.weight", "'net.safetensors'"});
  }
}

}  // namespace
}  // namespace agora::auctions
