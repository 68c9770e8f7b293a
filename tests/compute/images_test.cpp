// Networks of images step by step, as a GPU runs them, on a thread of the host: which steps these
// are, and that they compute what the CPU computes, to the precision of bf16.
#include "compute/images.h"

#include <gtest/gtest.h>

#include <cmath>

#include "compute/gradients.h"
#include "compute/operations.h"
#include "compute/program.h"
#include "support/emulated_gpu.h"

namespace agora::compute {
namespace {

constexpr int64_t kHidden = 128, kActions = 5;

// A residual network of pictures. All numbers are small whole numbers, which bf16 holds as they
// are: what it computes is the same to the last bit wherever it is computed.
struct Network {
  Network(int64_t side, const std::vector<int64_t>& channels, double sparsity = 1) : side_(side) {
    const auto sparse = [](double share) {
      return [share](std::span<double> values, const Shape&, Rng& rng) {
        for (double& it : values) {
          const double drawn = rng.uniform(-1, 1);
          it = std::abs(drawn) > share ? 0 : drawn < 0 ? -1 : 1;
        }
      };
    };
    const auto layer = [&](const std::string& name, Tensor x, int64_t out) {
      const double inputs = static_cast<double>(9 * x.size(-1));
      const Tensor w = g.parameter(name + ".w", {3, 3, x.size(-1), out},
                                   sparse(std::min(0.12, 3 / (sparsity * inputs))));
      return conv3x3(x, w) + g.parameter(name + ".b", {out}, sparse(0.5));
    };
    Tensor x = g.byte_input("pictures", {kRows, side, side, 3}, 1.0);
    for (size_t k = 0; k < channels.size(); ++k) {
      const std::string name = std::to_string(k);
      x = max_pool(layer(name + ".first", x, channels[k]));
      x = x +
          layer(name + ".inner", relu(layer(name + ".outer", relu(x), channels[k])), channels[k]);
    }
    images = relu(x);
    const int64_t flat = feature_count(x.shape());
    const Tensor w = g.parameter("dense.w", {flat, kHidden}, sparse(3 / (sparsity * double(flat))));
    const Tensor features = relu(matmul(flatten(images), w) + g.parameter("dense.b", {kHidden}));
    const Tensor head = g.parameter("head.w", {kHidden, kActions}, sparse(0.1));
    const Tensor chosen = one_hot(g.index_input("action", {kRows}), kActions);
    loss = sum(chosen * matmul(features, head));
    parameters = g.parameters();
    slopes = gradients(loss, parameters);
  }
  Computation computation() const {
    Computation it{.outputs = {{"loss", loss}, {"images", images}}, .updates = {}};
    for (size_t k = 0; k < slopes.size(); ++k) {
      it.outputs.push_back({"slope" + std::to_string(k), slopes[k]});
      it.updates.push_back({parameters[k], parameters[k] + 0.0 * slopes[k]});
    }
    return it;
  }
  std::vector<uint8_t> pictures(int64_t rows) const {
    std::vector<uint8_t> bytes(static_cast<size_t>(rows * side_ * side_ * 3));
    Rng rng(3, 1);
    for (uint8_t& it : bytes) it = static_cast<uint8_t>(rng.below(4));
    return bytes;
  }
  int64_t side_;
  Graph g;
  Tensor loss, images;
  Tensors parameters, slopes;
};

struct Learner {
  Learner(const Network& network, Device device, int64_t rows)
      : variables(network.g, Type::kFloat32, 0, device) {
    variables.initialize(5);
    program.emplace(network.g, variables, network.computation(), CompileOptions{.rows = rows});
    set(network, rows);
  }
  void set(const Network& network, int64_t rows) {
    program->set("pictures", std::span<const uint8_t>(network.pictures(rows)));
    std::vector<int32_t> actions;
    for (int64_t k = 0; k < rows; ++k) actions.push_back(static_cast<int32_t>(k % kActions));
    program->set("action", std::span<const int32_t>(actions));
  }
  std::vector<double> read(const std::string& name) const {
    std::vector<double> values(static_cast<size_t>(program->count(name)));
    program->read(name, std::span<double>(values));
    return values;
  }
  Variables variables;
  std::optional<Program> program;
};

class Images : public ::testing::Test {  // on the GPU, if there is one
 protected:
  void SetUp() override {
    if (!cuda_available()) emulated_.emplace(EmulatedGpu::backend());
  }
  std::optional<InsteadOfCuda> emulated_;
};

void expect_same(const Network& network, const Learner& here, const Learner& there) {
  EXPECT_EQ(here.program->scalar("loss"), there.program->scalar("loss"));
  EXPECT_EQ(here.read("images"), there.read("images"));
  for (size_t k = 0; k < network.slopes.size(); ++k) {
    const std::string name = "slope" + std::to_string(k);
    const std::vector<double> found = here.read(name);
    EXPECT_EQ(found, there.read(name)) << network.parameters[k].node().name;
    EXPECT_TRUE(std::any_of(found.begin(), found.end(), [](double it) { return it != 0; }))
        << network.parameters[k].node().name;
  }
}

double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double difference = 0, size = 0;
  for (size_t k = 0; k < a.size(); ++k) {
    difference += (a[k] - b[k]) * (a[k] - b[k]);
    size += b[k] * b[k];
  }
  return std::sqrt(difference / size);
}

// With weights as learners have them: all gradients together within 5 %, what bf16 rounds away and
// the maxima of pools that are others for it.
void compare_roughly(const Network& network, Learner& here, Learner& there) {
  Rng rng(6, 2);
  for (const Tensor& parameter : network.parameters) {
    const Shape& shape = parameter.shape();
    const double inputs = static_cast<double>(feature_count(shape) / shape.back());
    std::vector<double> values(static_cast<size_t>(feature_count(shape)));
    for (double& it : values) it = std::sqrt(3 / inputs) * rng.uniform(-1, 1);
    for (Learner* learner : {&here, &there}) {
      learner->variables.set(parameter.node().name, std::span<const double>(values));
    }
  }
  here.program->run();
  there.program->run();
  EXPECT_LT(distance(there.read("images"), here.read("images")), 1e-2);
  std::vector<double> all, wanted;
  for (size_t k = 0; k < network.slopes.size(); ++k) {
    for (const double it : there.read("slope" + std::to_string(k))) all.push_back(it);
    for (const double it : here.read("slope" + std::to_string(k))) wanted.push_back(it);
  }
  EXPECT_LT(distance(all, wanted), 5e-2);
}

void compare(const Network& network, int64_t rows) {
  Learner here(network, Device::kCpu, rows), there(network, Device::kCuda, rows);
  EXPECT_NE(there.program->listing().find("images"), std::string::npos);
  for (const int64_t now : {rows, rows / 3, rows}) {
    here.set(network, now);
    there.set(network, now);
    here.program->run();
    there.program->run();
    expect_same(network, here, there);
  }
  compare_roughly(network, here, there);
}

TEST_F(Images, GiveWhatTheCpuGives) { compare(Network(16, {32}), 20); }

// The text that a GPU runs, its threads, warps and tensor cores as loops of the host.
class WithWarps : public ::testing::Test {
 protected:
  void SetUp() override { EmulatedGpu::instance().set_warps(true); }
  void TearDown() override { EmulatedGpu::instance().set_warps(false); }
  const InsteadOfCuda emulated_{EmulatedGpu::backend()};
};

TEST_F(WithWarps, LayersAndGradients) {
  const Network network(16, {16});
  constexpr int64_t kImages = 3;
  Learner here(network, Device::kCpu, kImages), there(network, Device::kCuda, kImages);
  here.program->run();
  there.program->run();
  expect_same(network, here, there);
}

// An image goes through a stack of layers in one kernel; without gradients nothing else is kept.
void compare_stacks(const Network& network, const std::string& last, const std::string& none) {
  constexpr int64_t kImages = 3;
  std::vector<std::vector<double>> found;
  for (const Device device : {Device::kCpu, Device::kCuda}) {
    Variables variables(network.g, Type::kFloat32, 0, device);
    variables.initialize(5);
    Program program(network.g, variables, {.outputs = {{"images", network.images}}, .updates = {}},
                    {.rows = kImages});
    program.set("pictures", std::span<const uint8_t>(network.pictures(kImages)));
    program.run();
    found.emplace_back(static_cast<size_t>(program.count("images")));
    program.read("images", std::span<double>(found.back()));
    if (device == Device::kCpu) continue;
    EXPECT_NE(program.listing().find(last), std::string::npos);
    EXPECT_EQ(program.listing().find(none), std::string::npos);
  }
  EXPECT_EQ(found[0], found[1]);
  EXPECT_TRUE(std::any_of(found[0].begin(), found[0].end(), [](double it) { return it > 2; }));
}

TEST_F(Images, InStacksOfLayers) {
  compare_stacks(Network(64, {16, 32, 32}, 1.5), "stack 3", "stack 4");
}
TEST_F(WithWarps, StacksOfLayers) {
  compare_stacks(Network(32, {16, 32, 64}, 1.5), "stack 3", "stack 4");
}

TEST_F(Images, OfTheSizeOfGames) {
  if (!cuda_available()) GTEST_SKIP() << "long without a GPU";
  compare(Network(64, {16, 32, 32}, 1.5), 300);
}

TEST_F(Images, RowsOfATableOnTheDevice) {
  for (const int64_t size : {6, 32}) {
    Graph graph;
    const Tensor x = graph.byte_input("x", {kRows, size}, 0.5);
    Variables variables(graph, Type::kFloat32, 0, Device::kCuda);
    Program program(graph, variables, {{{"twice", x * 4.0}}, {}}, {.rows = 5});
    ByteRows table(9, size, Device::kCuda);
    std::vector<uint8_t> bytes(static_cast<size_t>(9 * size));
    for (size_t k = 0; k < bytes.size(); ++k) bytes[k] = static_cast<uint8_t>(k * 7);
    table.write(0, bytes);
    for (uint8_t& it : bytes) it = static_cast<uint8_t>(it + 1);
    table.write(3, std::span<const uint8_t>(bytes).subspan(static_cast<size_t>(3 * size)));
    const std::vector<int32_t> chosen{8, 2, 2, 5};
    program.set_rows("x", table, chosen);
    program.run();
    std::vector<float> found(4 * static_cast<size_t>(size));
    program.read("twice", std::span<float>(found));
    for (size_t k = 0; k < found.size(); ++k) {
      const auto row = static_cast<size_t>(chosen[k / static_cast<size_t>(size)]);
      const size_t from = row * static_cast<size_t>(size) + k % static_cast<size_t>(size);
      const int value = bytes[from] - (row < 3 ? 1 : 0);
      EXPECT_EQ(found[k], static_cast<float>(2 * ((value + 256) % 256)));
    }
  }
}

}  // namespace
}  // namespace agora::compute
