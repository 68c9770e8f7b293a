#include "agents/network.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "nn/layers.h"

namespace agora::agents {
namespace {

using compute::Graph;
using compute::kRows;
using compute::Tensor;

constexpr int64_t kLargePicture = 48;
constexpr double kActorGain = 0.01, kCriticGain = 1.0;

// Two convolutions with a max-pool after each, ReLU and a dense layer.
Tensor small_conv(Graph& graph, const std::string& name, Tensor picture,
                  const NetworkOptions& options) {
  const nn::Conv3x3 first(graph, name + ".first", picture.size(-1), options.channels);
  const nn::Conv3x3 second(graph, name + ".second", options.channels, 2 * options.channels);
  const Tensor seen = compute::max_pool(relu(second(compute::max_pool(relu(first(picture))))));
  const Tensor flat = compute::flatten(seen);
  const nn::Dense dense(graph, name + ".dense", flat.size(-1), options.width,
                        nn::orthogonal(nn::kReluGain));
  return relu(dense(flat));
}

Tensor mlp(Graph& graph, const std::string& name, Tensor flat, const NetworkOptions& options) {
  for (int64_t k = 0; k < options.layers; ++k) {
    const nn::Dense layer(graph, name + "." + std::to_string(k), flat.size(-1), options.width,
                          nn::orthogonal(nn::kReluGain));
    flat = relu(layer(flat));
  }
  return flat;
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

Tensor trunk(Graph& graph, const std::string& name, Tensor observation,
             const NetworkOptions& options) {
  if (options.kind == "impala") {
    return nn::Impala(graph, name, observation.size(1), observation.size(2),
                      observation.size(3))(observation);
  }
  if (options.kind == "conv") return small_conv(graph, name, observation, options);
  return mlp(graph, name, compute::flatten(observation), options);
}

Heads heads(Graph& graph, const std::string& name, Tensor features, int actions) {
  const nn::Dense actor(graph, name + ".actor", features.size(-1), actions,
                        nn::orthogonal(kActorGain));
  const nn::Dense critic(graph, name + ".critic", features.size(-1), 1,
                         nn::orthogonal(kCriticGain));
  return {actor(features), compute::reshape(critic(features), {kRows})};
}

Heads actor_critic(Graph& graph, const std::string& name, Tensor observation, int actions,
                   const NetworkOptions& options) {
  return heads(graph, name, trunk(graph, name + ".trunk", observation, options), actions);
}

Tensor action_values(Graph& graph, const std::string& name, Tensor observation, int actions,
                     const NetworkOptions& options) {
  const Tensor features = trunk(graph, name + ".trunk", observation, options);
  return nn::Dense(graph, name + ".values", features.size(-1), actions,
                   nn::orthogonal(kActorGain))(features);
}

void save_variables(const compute::Variables& variables, const std::string& prefix,
                    std::vector<StoredTensor>& saved) {
  for (StoredTensor& each : variables.stored()) {
    each.name = prefix + each.name;
    saved.push_back(std::move(each));
  }
}

void load_variables(compute::Variables& variables, const std::string& prefix,
                    const TensorFile& saved) {
  TensorFile own;
  own.path = saved.path;
  for (const StoredTensor& each : saved.tensors) {
    if (!each.name.starts_with(prefix)) continue;
    own.tensors.push_back(each);
    own.tensors.back().name = each.name.substr(prefix.size());
  }
  variables.load(own);
}

}  // namespace agora::agents
