#pragma once
#include <cstdint>
#include <future>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "agents/environment.h"
#include "agents/profile.h"
#include "base/learning_loop.h"
#include "base/thread_pool.h"
#include "compute/backend.h"

namespace agora::agents {

// Divides rewards by the running deviation of the discounted return, as Procgen's baselines do.
class RewardScale {
 public:
  RewardScale(int64_t environments, double discount);

  // Rewards (environments) of one step in place; an episode that ended starts its return anew.
  void apply(std::span<float> rewards, std::span<const End> ends);

  std::vector<StoredTensor> save(const std::string& prefix) const;
  void restore(const TensorFile& saved, const std::string& prefix);

 private:
  double discount_;
  std::vector<double> returns_;                    // (environments)
  double mean_ = 0, variance_ = 1, count_ = 1e-4;  // of all returns so far
};

// What was seen, done and earned in `steps` steps of `count` environments.
struct Rollout {
  int64_t steps = 0, count = 0;
  std::vector<std::byte> observations;   // (steps, count, bytes)
  std::vector<uint8_t> masks;            // (steps, count, actions) if some are forbidden at times
  std::vector<float> contexts;           // (steps, count, n) if the policy has a memory
  std::vector<int32_t> actions;          // (steps, count), as all below
  std::vector<int64_t> levels;           // that are played
  std::vector<float> log_probs, values;  // of the policy that acted
  std::vector<float> rewards;            // scaled
  std::vector<End> ends;
  std::vector<float> after;                // the value after an episode that was cut off, else 0
  std::vector<float> last_values;          // (count): of what is seen after the last step
  std::vector<float> advantages, returns;  // by estimate_advantages()

  int64_t samples() const { return steps * count; }
};

// Generalised advantage estimation; an episode that was cut off counts on with `after`.
void estimate_advantages(Rollout& rollout, double discount, double lambda);

// Episodes that ended, for the log: raw returns and lengths.
struct Ended {
  int64_t episodes = 0, steps = 0;
  double returns = 0;

  Ended& operator+=(const Ended& other) {
    episodes += other.episodes;
    steps += other.steps;
    returns += other.returns;
    return *this;
  }
};

// What plays a rollout.
class Actor {
 public:
  virtual ~Actor() = default;
  // What it acts upon from now on is kept in that rollout, step after step.
  virtual void begins(const Rollout& rollout) { static_cast<void>(rollout); }
  // act() in two: the first sets about it, the second waits for what comes out. One that overlaps
  // goes on by itself in between, whatever the rows.
  virtual bool overlaps() const { return false; }
  virtual void start(std::span<const std::byte> observations, int64_t rows) {
    started_ = observations;
    started_rows_ = rows;
  }
  virtual void finish(std::span<float> logits, std::span<float> values) {
    act(started_, started_rows_, logits, values);
  }
  // Logits (rows, actions) and values (rows) of observations (rows, bytes) that are acted upon.
  virtual void act(std::span<const std::byte> observations, int64_t rows, std::span<float> logits,
                   std::span<float> values) = 0;
  // The values of observations that nothing follows on; they are not remembered.
  virtual void value(std::span<const std::byte> observations, int64_t rows,
                     std::span<float> values) = 0;
  virtual void ended(std::span<const End> ends) { static_cast<void>(ends); }

 private:
  std::span<const std::byte> started_;
  int64_t started_rows_ = 0;
};

// Makes forbidden actions impossible; nothing happens without a mask.
inline constexpr float kForbidden = -1e9F;
void forbid(std::span<const uint8_t> mask, std::span<float> logits);

// Plays on, rollout after rollout, in environments of its own. Where the actor overlaps, one half
// of many environments steps while it thinks about the other; what comes out is the same.
class Player {
 public:
  Player(std::unique_ptr<Environment> environment, int64_t steps, double discount, uint64_t seed,
         bool scales_rewards = true);

  const Rollout& play(Actor& actor);
  // The next play() goes on from now on beside the caller, by threads and a lane of its own: the
  // actor and rollout() are not touched until then. All else is as it is between two rollouts.
  void begin(Actor& actor, ThreadPool& threads, compute::Lane* lane);
  bool is_playing() const { return ahead_.valid(); }
  Rollout& rollout() { return rollout_; }
  Environment& environment() { return *environment_; }
  const Environment& environment() const { return *environment_; }
  int64_t steps() const { return step_; }  // of each environment
  Ended ended();                           // since the last call
  const Profile& profile() const { return profile_; }

  std::vector<StoredTensor> save(const std::string& prefix) const;
  void restore(const TensorFile& saved, const std::string& prefix);

  // The same for as long as the process lives; one that was begun is not waited for.
  struct State {
    std::shared_future<TensorFile> tensors;
    Ended ended;
  };
  State state() const;
  void restore(const State& state);

 private:
  void play_on(Actor& actor);
  TensorFile tensors() const;  // all that changes but ended_
  void load(const TensorFile& saved, const std::string& prefix);
  // Of some environments in step t: what they see goes to the actor; what comes back is done; what
  // it earned is noted once they have stepped.
  void start(Actor& actor, int64_t t, Range which);
  void choose(Actor& actor, int64_t t, Range which);
  void step(int64_t t, Range which);
  void settle(Actor& actor, int64_t t, Range which);

  std::unique_ptr<Environment> environment_;
  uint64_t seed_;
  int64_t step_ = 0;
  bool scales_;
  RewardScale scale_;
  Rollout rollout_;
  std::vector<double> earned_;   // (count): of the episodes under way
  std::vector<int64_t> length_;  // (count)
  Ended ended_, ended_ahead_;    // the second in a rollout that nobody has asked for yet
  Profile profile_;
  std::vector<float> logits_, after_;
  // While a rollout is played ahead: as it was before.
  std::optional<std::shared_future<TensorFile>> before_;
  std::future<void> ahead_;  // the last member: what it uses outlives it
};

}  // namespace agora::agents
