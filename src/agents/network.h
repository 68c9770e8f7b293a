#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "agents/environment.h"
#include "compute/program.h"

namespace agora::agents {

// What a policy and its value are computed with.
struct NetworkOptions {
  std::string kind = "auto";  // mlp, conv or impala; auto: impala for large pictures, else mlp
  int64_t width = 64;         // of a hidden layer
  int64_t layers = 2;         // hidden ones of an MLP
  int64_t channels = 16;      // of the small convolutional network
};
const std::vector<std::string>& network_kinds();
// The options with `auto` decided; a kind that cannot take such observations is the user's mistake.
NetworkOptions resolved(NetworkOptions options, const ObservationSpace& space);

struct Heads {
  compute::Tensor logits;  // (rows, actions)
  compute::Tensor value;   // (rows)
};

// The input `observation`, scaled to [0, 1] if it is bytes.
compute::Tensor observation_input(compute::Graph& graph, const ObservationSpace& space,
                                  std::string_view name = "observation");
// Hands observations (rows, bytes) to such an input.
void set_observations(compute::Program& program, const ObservationSpace& space,
                      std::span<const std::byte> bytes, std::string_view name = "observation");
// Features of observations (rows, features) and what follows from them; parameters are `name.*`.
compute::Tensor trunk(compute::Graph& graph, const std::string& name, compute::Tensor observation,
                      const NetworkOptions& options);
Heads heads(compute::Graph& graph, const std::string& name, compute::Tensor features, int actions);
Heads actor_critic(compute::Graph& graph, const std::string& name, compute::Tensor observation,
                   int actions, const NetworkOptions& options);
// What each action is worth (rows, actions).
compute::Tensor action_values(compute::Graph& graph, const std::string& name,
                              compute::Tensor observation, int actions,
                              const NetworkOptions& options);

// Variables among what is saved of a learner, each named `prefix` and its own name.
void save_variables(const compute::Variables& variables, const std::string& prefix,
                    std::vector<StoredTensor>& saved);
void load_variables(compute::Variables& variables, const std::string& prefix,
                    const TensorFile& saved);

}  // namespace agora::agents
