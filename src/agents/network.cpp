#include "agents/network.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "base/text.h"
#include "nn/layers.h"

namespace agora::agents {
namespace {

using compute::Graph;
using compute::kRows;
using compute::Tensor;

constexpr int64_t kLargePicture = 48;
constexpr int64_t kSpare = 1'000'000;  // numbers that nobody minds
constexpr double kActorGain = 0.01, kCriticGain = 1.0;

std::vector<int64_t> shape_of(Tensor observation) {
  return {observation.shape().begin() + 1, observation.shape().end()};
}

}  // namespace

const std::vector<std::string>& network_kinds() {
  static const std::vector<std::string> kinds{"auto", "mlp", "conv", "impala"};
  return kinds;
}

NetworkOptions resolved(NetworkOptions options, const ObservationSpace& space) {
  const auto& kinds = network_kinds();
  if (std::find(kinds.begin(), kinds.end(), options.kind) == kinds.end()) {
    throw user_error("unknown network '{}'{}", printable(options.kind),
                     suggestion(options.kind, kinds));
  }
  if (options.kind == "auto") {
    options.kind = space.is_picture() && space.shape[0] >= kLargePicture ? "impala" : "mlp";
  }
  if (options.kind != "mlp" && !space.is_picture()) {
    throw user_error("network '{}' takes pictures, and these observations are none; take mlp",
                     options.kind);
  }
  return options;
}

void expect_numbers(const Graph& graph, const TensorFile& file) {
  int64_t wanted = 0, found = 0;
  for (int32_t id = 0; id < graph.size(); ++id) {
    const compute::Node& node = graph.node(id);
    if (node.op == compute::Op::kVariable) wanted += compute::feature_count(node.shape);
  }
  for (const StoredTensor& tensor : file.tensors) found += tensor.size();
  if (wanted > kSpare + 2 * found) {
    throw user_error("{}: a network of {} numbers, and tensors of {}", file.path, wanted, found);
  }
}

Tensor observation_input(Graph& graph, const ObservationSpace& space, std::string_view name) {
  compute::Shape shape{kRows};
  shape.insert(shape.end(), space.shape.begin(), space.shape.end());
  if (space.type == ObservationSpace::Type::kReal) return graph.input(name, shape);
  return graph.byte_input(name, shape, 1.0 / 255.0);
}

void set_observations(compute::Program& program, const ObservationSpace& space,
                      std::span<const std::byte> bytes, std::string_view name) {
  if (space.type == ObservationSpace::Type::kByte) {
    program.set(name, std::span(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()));
  } else {
    program.set(name, std::span(reinterpret_cast<const float*>(bytes.data()), bytes.size() / 4));
  }
}

void set_observations(compute::Program& program, const ObservationSpace& space,
                      std::span<const std::byte> all, std::span<const int32_t> chosen,
                      std::vector<std::byte>& room) {
  if (space.type == ObservationSpace::Type::kByte) {
    return program.set_rows(
        "observation", std::span(reinterpret_cast<const uint8_t*>(all.data()), all.size()), chosen);
  }
  const auto bytes = static_cast<size_t>(space.bytes());
  room.resize(chosen.size() * bytes);
  for (size_t k = 0; k < chosen.size(); ++k) {
    std::memcpy(&room[k * bytes], &all[static_cast<size_t>(chosen[k]) * bytes], bytes);
  }
  set_observations(program, space, room);
}

Trunk::Trunk(Graph& graph, const std::string& name, const std::vector<int64_t>& shape,
             const NetworkOptions& options) {
  if (options.kind == "impala") {
    impala.emplace(graph, name, shape[0], shape[1], shape[2]);
    features = impala->dense.back().weight.size(-1);
    return;
  }
  int64_t numbers = 1;
  if (options.kind == "conv") {
    convolutions.emplace_back(graph, name + ".first", shape[2], options.channels);
    convolutions.emplace_back(graph, name + ".second", options.channels, 2 * options.channels);
    const auto pooled = [](int64_t size) { return (size + 3) / 4; };  // twice
    numbers = pooled(shape[0]) * pooled(shape[1]) * 2 * options.channels;
    layers.emplace_back(graph, name + ".dense", numbers, options.width,
                        nn::orthogonal(nn::kReluGain));
    features = options.width;
    return;
  }
  for (const int64_t size : shape) numbers *= size;
  for (int64_t k = 0; k < options.layers; ++k) {
    layers.emplace_back(graph, name + "." + std::to_string(k), numbers, options.width,
                        nn::orthogonal(nn::kReluGain));
    numbers = options.width;
  }
  features = numbers;
}

Tensor Trunk::operator()(Tensor observation) const {
  if (impala) return (*impala)(observation);
  for (const nn::Conv3x3& convolution : convolutions) {
    observation = compute::max_pool(relu(convolution(observation)));
  }
  observation = compute::flatten(observation);
  for (const nn::Dense& layer : layers) observation = relu(layer(observation));
  return observation;
}

ActorCritic::ActorCritic(Graph& graph, const std::string& name, const Space& space,
                         const NetworkOptions& options)
    : trunk(graph, name + ".trunk", space.observation.shape, options),
      context(options.context > 0 ? std::optional(graph.input("context", {kRows, options.context}))
                                  : std::nullopt),
      actor(graph, name + ".actor", trunk.features + options.context, space.actions,
            nn::orthogonal(kActorGain)),
      critic(graph, name + ".critic", trunk.features + options.context, 1,
             nn::orthogonal(kCriticGain)) {}

Heads ActorCritic::operator()(Tensor observation) const {
  Tensor features = trunk(observation);
  if (context) features = compute::concat({features, *context}, -1);
  return {actor(features), compute::reshape(critic(features), {kRows})};
}

Tensor state_value(Graph& graph, const std::string& name, Tensor observation,
                   const NetworkOptions& options) {
  const Tensor features =
      Trunk(graph, name + ".trunk", shape_of(observation), options)(observation);
  const nn::Dense critic(graph, name + ".critic", features.size(-1), 1,
                         nn::orthogonal(kCriticGain));
  return compute::reshape(critic(features), {kRows});
}

Tensor action_values(Graph& graph, const std::string& name, Tensor observation, int actions,
                     const NetworkOptions& options) {
  const Tensor features =
      Trunk(graph, name + ".trunk", shape_of(observation), options)(observation);
  return nn::Dense(graph, name + ".values", features.size(-1), actions,
                   nn::orthogonal(kActorGain))(features);
}

}  // namespace agora::agents
