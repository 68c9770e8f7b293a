#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "agents/environment.h"
#include "base/safetensors.h"
#include "compute/program.h"
#include "nn/layers.h"

namespace agora::agents {

// What a policy and its value are computed with.
struct NetworkOptions {
  std::string kind = "auto";  // mlp, conv or impala; auto: impala for large pictures, else mlp
  int64_t width = 64;         // of a hidden layer
  int64_t layers = 2;         // hidden ones of an MLP
  int64_t channels = 16;      // of the small convolutional network
  int64_t context = 0;        // numbers of a memory that the heads see beside the observation
};
const std::vector<std::string>& network_kinds();
// The options with `auto` decided; a kind that cannot take such observations is the user's mistake.
NetworkOptions resolved(NetworkOptions options, const ObservationSpace& space);

struct Heads {
  compute::Tensor logits;  // (rows, actions)
  compute::Tensor value;   // (rows)
};

// Before variables of a graph take memory: a file that has far fewer numbers is refused. Who loads
// it says which tensor is wrong.
void expect_numbers(const compute::Graph& graph, const TensorFile& file);

// The input `observation`, scaled to [0, 1] if it is bytes.
compute::Tensor observation_input(compute::Graph& graph, const ObservationSpace& space,
                                  std::string_view name = "observation");
// Hands observations (rows, bytes) to such an input.
void set_observations(compute::Program& program, const ObservationSpace& space,
                      std::span<const std::byte> bytes, std::string_view name = "observation");
// The same with the samples `chosen` of many; what is not copied stays as it is until then.
void set_observations(compute::Program& program, const ObservationSpace& space,
                      std::span<const std::byte> all, std::span<const int32_t> chosen,
                      std::vector<std::byte>& room);
// Features (rows, features) of observations (rows, shape...); parameters are `name.*`.
struct Trunk {
  Trunk(compute::Graph& graph, const std::string& name, const std::vector<int64_t>& shape,
        const NetworkOptions& options);
  compute::Tensor operator()(compute::Tensor observation) const;
  int64_t features = 0;
  std::optional<nn::Impala> impala;
  std::vector<nn::Conv3x3> convolutions;  // with a max-pool after each
  std::vector<nn::Dense> layers;          // with a ReLU after each
};
// An actor and a critic on one trunk; with a context, the input `context` is beside its features.
struct ActorCritic {
  ActorCritic(compute::Graph& graph, const std::string& name, const Space& space,
              const NetworkOptions& options);
  Heads operator()(compute::Tensor observation) const;
  Trunk trunk;
  std::optional<compute::Tensor> context;
  nn::Dense actor, critic;
};
// What a state is worth (rows), by a network of its own.
compute::Tensor state_value(compute::Graph& graph, const std::string& name,
                            compute::Tensor observation, const NetworkOptions& options);
// What each action is worth (rows, actions).
compute::Tensor action_values(compute::Graph& graph, const std::string& name,
                              compute::Tensor observation, int actions,
                              const NetworkOptions& options);

}  // namespace agora::agents
