#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "agents/ppo.h"

namespace agora::agents {

// A policy that imitates what others do in what they saw: it is moved so as to make the divergence
// of theirs from its own small.
class DistilledPolicy {
 public:
  // `acting` rows at a time, and updates of `samples`.
  DistilledPolicy(const Space& space, const NetworkOptions& network, const PpoOptions& options,
                  bool masked, int64_t acting, int64_t samples);
  ~DistilledPolicy();

  void initialise(uint64_t seed, int64_t member);

  // Probabilities (samples, actions) of what was seen in a rollout.
  void probabilities(const Rollout& rollout, std::span<float> out);
  // All epochs over one rollout and what its member does there (samples, actions); the mean
  // divergence on the way.
  double update(const Rollout& rollout, std::span<const float> theirs, uint64_t seed,
                int64_t member, int64_t iteration);

  compute::Variables& variables() { return variables_; }
  const std::vector<std::string>& parameter_names() const { return parameters_; }

 private:
  struct Recorded;
  DistilledPolicy(std::unique_ptr<Recorded> recorded, const Space& space, const PpoOptions& options,
                  bool masked, int64_t acting, int64_t samples);

  Space space_;
  PpoOptions options_;
  bool masked_;
  int64_t rows_;  // of a minibatch
  std::unique_ptr<Recorded> recorded_;
  std::vector<std::string> parameters_;
  compute::Variables variables_;
  compute::Program act_, learn_;
  std::vector<std::byte> observations_;
  std::vector<float> theirs_;
  std::vector<uint8_t> masks_;
};

}  // namespace agora::agents
