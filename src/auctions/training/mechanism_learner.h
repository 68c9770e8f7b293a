#pragma once
#include <memory>
#include <string_view>

#include "auctions/training/trainer.h"
#include "base/learning_loop.h"

namespace agora::auctions {

// The training of a mechanism as learn() leads it; a step is an iteration. Its numbers are revenue,
// regret per bidder, P* and the loss.
class MechanismLearner : public Resumable {
 public:
  MechanismLearner(const MechanismKind& kind, const Setting& setting, const Recipe& recipe,
                   uint64_t seed);
  MechanismLearner(std::string_view mechanism, const Setting& setting, const Recipe& recipe,
                   uint64_t seed)
      : MechanismLearner(mechanism_kind(mechanism), setting, recipe, seed) {}

  ResumableTrainer& trainer() { return *trainer_; }

  int64_t step() const override { return trainer_->iteration(); }
  int64_t total() const override { return iterations_; }
  void advance(int64_t steps) override { trainer_->advance(steps); }
  std::vector<StoredTensor> tensors() const override { return trainer_->state(); }
  void restore(const Checkpoint& checkpoint) override { trainer_->restore(checkpoint.tensors); }
  NamedNumbers numbers() override;

 private:
  std::unique_ptr<ResumableTrainer> trainer_;
  int64_t iterations_;
  int bidders_;
};

}  // namespace agora::auctions
