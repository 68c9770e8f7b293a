#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agents/agreement.h"
#include "agents/algorithm.h"
#include "agents/distilled.h"
#include "agents/level_scores.h"
#include "agents/ppo.h"

namespace agora::agents {

// One more learner, which plays all levels for what is new alone (for_explorer).
struct ExplorerOptions {
  double discount = 0.9;
  int64_t neighbours = 3;
  Exploration deployed = {};
};

struct EnsembleOptions {
  int64_t members = 1;
  Pull pull = {};
  // Each member on all levels, on a bootstrap sample of them, or on a part that no other has.
  enum class Levels : uint8_t { kAll, kBootstrap, kParts };
  Levels levels = Levels::kAll;
  std::optional<LevelReplay> replay = {};  // none: each with the same chance
  Link deployed = Link::kMax;              // how the members become one policy
  MemoryOptions memory = {.cost = 0};      // of what is deployed
  bool distilled = false;  // or one that imitates them all, and that they are drawn to
  std::optional<ExplorerOptions> explorer = {};  // who acts where the members disagree
  int64_t rollout = 256;                         // steps of each environment between two updates
  double reward_discount = 0.99;                 // of the returns that scale rewards
  bool plays_ahead = true;  // where a device learns; changes nothing but the time it takes
  PpoOptions ppo = {};
};

// Of what a member draws; the first one is as a single learner.
uint64_t member_seed(uint64_t seed, int64_t member);

// The levels that a member plays.
Levels member_levels(const AgentOptions& agent, const EnsembleOptions& how, int64_t member);

// Policies that learn by PPO one after the other in every iteration, each in environments of its
// own. A member that has learned can play its next rollout while the others learn, since it plays
// without them.
class PpoEnsemble : public AgentLearner {
 public:
  PpoEnsemble(const AgentOptions& agent, const EnsembleOptions& options);

  int64_t total() const override { return iterations_; }
  std::vector<StoredTensor> tensors() const override;
  void restore(const Checkpoint& checkpoint) override;
  NamedNumbers numbers() override;
  SavedPolicy policy() const override;
  std::optional<Profile> profile() const override;
  int64_t environment_steps() const override { return iteration_ * steps_each_; }

 private:
  struct Member {
    Member(std::string own_prefix, Player own_player, std::unique_ptr<PpoMember> own_learner);
    std::string prefix;  // of what is saved
    std::unique_ptr<PpoMember> learner;
    // Before an iteration.
    compute::Snapshot weights;
    Player::State played;
    std::optional<LevelScores> scores_before;
    // Where it chooses among its levels.
    std::optional<LevelScores> scores;
    // Of one that plays ahead.
    std::unique_ptr<ThreadPool> threads;
    std::unique_ptr<compute::Lane> lane;
    Player player;  // the last: it may be playing
  };
  struct Numbers {  // since numbers() was called, summed
    PpoNumbers seen;
    int64_t updates = 0;
  };
  void iterate() override;
  void remember() override;
  void go_back() override;
  void load(const TensorFile& saved) override;
  std::unique_ptr<Member> made(int64_t index, std::unique_ptr<Environment> environment,
                               const PpoOptions& ppo, const Pull& pull);
  static void begin(Member& member);
  void begin_next(Member& member);
  void play(Member& member);
  void learn(size_t self);
  void explore();
  // What draws member `self`, in the states that it saw.
  std::span<const float> others_of(size_t self);
  void distil();

  AgentOptions agent_;
  EnsembleOptions options_;
  int64_t count_ = 0;  // environments of each
  int64_t iterations_ = 0, steps_each_ = 0;
  std::vector<std::unique_ptr<Member>> members_;
  std::unique_ptr<Member> explorer_;
  std::vector<Member*> all_;  // members, then the explorer
  std::unique_ptr<DistilledPolicy> distilled_;
  std::optional<compute::Snapshot> distilled_before_;
  std::vector<float> others_, one_;  // (samples, actions)
  Numbers numbers_, numbers_before_;
  Profile profile_;      // of what is nobody's alone
  ThreadPool alone_{1};  // of whoever learns while others play ahead
};

}  // namespace agora::agents
