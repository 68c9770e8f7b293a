#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "agents/network.h"
#include "agents/replay.h"

namespace agora::agents {

struct QOptions {
  double rate = 5e-4;
  double discount = 0.999;
  double follow = 0.005;  // the share of its way that a target goes in every update
  int64_t batch = 256;
};

// Two networks of what actions are worth, each with a target that follows it slowly. Both learn
//   reward + discount max_a min(Q1', Q2')(next, a),
// Q' being the targets: what one of them overrates by chance, the other corrects (TD3).
class QNetworks {
 public:
  // `acting` rows at a time; `masked`: some actions are forbidden at times.
  QNetworks(const Space& space, const NetworkOptions& network, const QOptions& options, bool masked,
            int64_t acting);
  ~QNetworks();

  void initialise(uint64_t seed);
  // The lesser of both (rows, actions).
  void values(std::span<const std::byte> observations, int64_t rows, std::span<float> out);
  // One step of Adam; the loss before it. What is not finite changes nothing.
  double update(const TransitionBatch& batch);
  std::vector<float> targets() const;  // (batch): what the last update learned

  compute::Variables& variables() { return variables_; }
  std::vector<std::vector<StoredTensor>> members() const;  // as in SavedPolicy

 private:
  struct Recorded;
  QNetworks(std::unique_ptr<Recorded> recorded, const Space& space, const QOptions& options,
            bool masked, int64_t acting);

  Space space_;
  int64_t batch_;
  bool masked_;
  std::unique_ptr<Recorded> recorded_;
  compute::Variables variables_;
  compute::Program act_, learn_;
};

}  // namespace agora::agents
