#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agents/network.h"
#include "agents/policy.h"
#include "compute/program.h"
#include "nn/optimisers.h"

namespace agora::agents {

// A value network of its own, with epochs of its own, beside a policy whose features also have to
// say how much better than that value an action is (Raileanu and Fergus, 2021).
struct SeparateValue {
  int64_t epochs = 9;
  double advantage = 0.25;  // coefficient of what the policy's features say of advantages
};

// What is seen means the same a little further on: the policy and the value of a picture that was
// moved are drawn to those of the picture itself (Raileanu et al., 2021).
struct Invariance {
  double weight = 0.1;    // in the loss
  double shift = 0.1875;  // at most, as a share of a side
};

// Proximal policy optimisation as the thesis's code base runs it.
struct PpoOptions {
  int64_t epochs = 3, minibatches = 8;
  double rate = 5e-4, adam_epsilon = 1e-5;
  double discount = 0.999, lambda = 0.95;
  double clip = 0.2;
  double entropy = 0.01, value = 0.5;  // coefficients of the loss
  double max_norm = 0.5;               // of the gradient
  std::optional<SeparateValue> separate = {};
  std::optional<Invariance> invariance = {};
};

// A penalty on the divergence of a member from another policy, through which no gradient flows.
struct Pull {
  double penalty = 0;
  // What it and the others make together; none: a policy of its own.
  std::optional<Link> link = Link::kMax;
};

// For graphs: what to add to logits where a mask (1 or 0) forbids, and logits of probabilities.
compute::Tensor forbidden(compute::Tensor mask);
compute::Tensor log_of_probabilities(compute::Tensor probabilities);

// One actor and critic, its loss and its updates in a graph. Inputs are `observation`, `mask` where
// some actions are forbidden at times, `action`, `log_prob`, `old_value`, `advantage`, `return`,
// `others` with a penalty, and `moved`, the observation moved, with an invariance.
struct PpoLoss {
  PpoLoss(const Space& space, const NetworkOptions& network, const PpoOptions& options,
          const Pull& pull, bool masked);

  compute::Computation acting() const;
  compute::Computation losses() const;
  compute::Computation learning() const;
  compute::Computation learning_value() const;  // by a network of its own
  compute::Computation slopes() const;          // all losses, and `gradient.NAME` of parameters
  bool is_linked() const { return disagreement.graph != nullptr; }

  compute::Graph graph;
  Heads seen;
  compute::Tensor policy, value, entropy, loss, disagreement, difference;
  compute::Tensors gradients;          // of `names`
  nn::Updates updates, value_updates;  // the second where a value has a network of its own
  std::vector<std::string> names;      // of all parameters
};
// Of a policy: what acts.
bool is_of_policy(std::string_view parameter);

}  // namespace agora::agents
