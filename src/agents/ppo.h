#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "agents/network.h"
#include "agents/ppo_loss.h"
#include "agents/rollout.h"
#include "agents/shift.h"
#include "agents/streams.h"
#include "base/rng.h"
#include "compute/program.h"

namespace agora::agents {

struct PpoNumbers {
  double loss = 0, policy = 0, value = 0, entropy = 0;
  double penalty = 0, difference = 0;  // with a pull, with an invariance
};

// The loss of a whole rollout taken as one minibatch, and its slope; of a value of its own the
// slope of its own loss.
struct PpoGradient {
  PpoNumbers numbers;
  std::vector<StoredTensor> tensors;  // of each parameter, before the norm is bounded
};

// Probabilities (samples, actions) of what was seen in a rollout, so many samples at a time;
// logits_of(first sample, logits) says which logits these have.
void rollout_probabilities(
    const Rollout& rollout, const Space& space, int64_t rows,
    const std::function<void(int64_t first, std::span<float> logits)>& logits_of,
    std::span<float> out);
// What was seen by so many samples.
std::span<const std::byte> seen_in(const Rollout& rollout, const Space& space, int64_t first,
                                   int64_t count);

// The minibatches of all epochs over so many samples: in every epoch all of them once, in an order
// that is drawn.
void each_minibatch(const PpoOptions& options, int64_t samples, Stream purpose, uint64_t seed,
                    int64_t member, int64_t iteration,
                    const std::function<void(std::span<const int32_t> chosen)>& learn);
// put(k, from) for place k of a minibatch and the sample that goes there, by all threads.
void gather(std::span<const int32_t> chosen, const std::function<void(size_t k, size_t from)>& put);

// One actor and critic with its optimiser.
class PpoMember : public Actor {
 public:
  // `acting` rows at a time, and updates of `samples`; `masked`: some actions are forbidden at
  // times.
  PpoMember(const Space& space, const NetworkOptions& network, const PpoOptions& options,
            const Pull& pull, bool masked, int64_t acting, int64_t samples);
  ~PpoMember() override;

  void initialise(uint64_t seed, int64_t member);

  void begins(const Rollout& rollout) override;
  bool overlaps() const override { return frames_.has_value(); }
  void start(std::span<const std::byte> observations, int64_t rows) override;
  void finish(std::span<float> logits, std::span<float> values) override;
  void act(std::span<const std::byte> observations, int64_t rows, std::span<float> logits,
           std::span<float> values) override;
  void value(std::span<const std::byte> observations, int64_t rows,
             std::span<float> values) override;
  // Of a network with a memory: contexts (rows, n) beside the observations.
  void act_in(std::span<const float> contexts, std::span<const std::byte> observations,
              std::span<float> logits, std::span<float> values);
  // Probabilities (samples, actions) of what was seen in a rollout, which that member played.
  void probabilities(const Rollout& rollout, const PpoMember& player, std::span<float> out);
  // All epochs. `others` (samples, actions) is the largest, or the sum, of the others'
  // probabilities, or the policy it is drawn to; empty without a penalty. A non-finite loss leaves
  // it as it was.
  PpoNumbers update(const Rollout& rollout, std::span<const float> others, uint64_t seed,
                    int64_t member, int64_t iteration);

  // What it would learn from, for those who look into a run; nothing changes.
  PpoGradient gradient(const Rollout& rollout, std::span<const float> others);

  const Profile& profile() const { return profile_; }
  compute::Variables& variables() { return variables_; }
  const std::vector<std::string>& parameter_names() const { return parameters_; }
  // Those that act, and alone make a policy.
  std::vector<std::string> policy_names() const;

 private:
  struct Spread {
    double centre, deviation;
  };
  static Spread spread_of(std::span<const float> advantages);
  PpoMember(std::unique_ptr<PpoLoss> loss, const Space& space, const PpoOptions& options,
            bool masked, int64_t acting, int64_t samples);
  bool has_frames(const Rollout& rollout) const;
  // Sets the samples `chosen` of a rollout: what is seen, and what only the policy or only the
  // value learns from.
  void set_seen(compute::Program& program, const Rollout& rollout, std::span<const int32_t> chosen);
  void set_for_policy(compute::Program& program, const Rollout& rollout,
                      std::span<const float> others, std::span<const int32_t> chosen,
                      const Spread& advantages);
  void set_for_value(compute::Program& program, const Rollout& rollout,
                     std::span<const int32_t> chosen);
  // What is seen, moved by as much as is drawn.
  void set_moved(compute::Program& program, const Rollout& rollout, std::span<const int32_t> chosen,
                 Rng& shifts);
  // Runs a program of the policy's loss, and of the value's where that is not separate.
  PpoNumbers run(compute::Program& program, const Rollout& rollout, std::span<const float> others,
                 std::span<const int32_t> chosen, const Spread& advantages, Rng shifts);
  double learn_value(const Rollout& rollout, uint64_t seed, int64_t member, int64_t iteration);

  Space space_;
  PpoOptions options_;
  bool linked_, masked_;
  int64_t rows_;  // of a minibatch
  std::unique_ptr<PpoLoss> loss_;
  std::vector<std::string> parameters_;
  compute::Variables variables_;
  compute::Program act_, learn_;
  std::optional<compute::Program> learn_value_;  // where it is separate
  std::unique_ptr<compute::Program> look_;       // at minibatches; made when it is first needed
  // On a device: what was seen in a rollout, brought there once.
  std::optional<compute::ByteRows> frames_;
  const Rollout* kept_ = nullptr;  // whose
  std::shared_ptr<void> pinned_;   // its memory
  int64_t frame_ = 0;              // as many are there
  std::vector<int32_t> acting_;
  Profile profile_;
  // One minibatch.
  std::vector<std::byte> observations_, moved_;
  std::vector<Shift> shifts_;
  std::vector<int32_t> actions_;
  std::vector<float> logits_, log_probs_, values_, advantages_, returns_, others_, contexts_;
  std::vector<uint8_t> masks_;
};

}  // namespace agora::agents
